/** The types of movements. A call without a charge and a hold are no movements. */
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
