/**
 * The types of ledger entries ("movements"). A movement changes the total quota of an account.
 * Holds and calls without a charge leave the total unchanged, so the ledger does not list them.
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
