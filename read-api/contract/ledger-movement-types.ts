/**
 * The types of movements, which are the entries of the ledger. A movement changes the total quota
 * of an account. The ledger does not list holds and calls without a charge, because these leave the
 * total unchanged.
 */
export const MOVEMENT_TYPES = [
  'call',
  'grant',
  'deduction',
  'redemption',
  'order',
  'refund',
  'check_in',
  'transfer',
  'rebate',
  'correction',
] as const
export type MovementType = (typeof MOVEMENT_TYPES)[number]
