import type { Redemption } from '#read-api/contract/redemptions.ts'

export type RedemptionState =
  | 'unused'
  | 'gift'
  | 'disabled'
  | 'used'
  | 'usedUp'
  | 'notYetValid'
  | 'expired'

type StateFields = Pick<
  Redemption,
  'status' | 'is_gift' | 'max_uses' | 'used_count' | 'valid_from' | 'valid_until'
>

/**
 * Reports whether a gift code has been used the maximum number of times. The stored status of such
 * a code is still 1 (enabled).
 */
const isUsedUp = ({ is_gift, max_uses, used_count }: StateFields): boolean =>
  is_gift && max_uses >= 0 && used_count >= max_uses

export const isSpent = (redemption: StateFields): boolean =>
  redemption.status !== 1 || isUsedUp(redemption)

export function redemptionState(redemption: StateFields, now: number): RedemptionState {
  if (redemption.status === 3) return 'used'
  if (redemption.status === 2) return 'disabled'
  if (isUsedUp(redemption)) return 'usedUp'
  if (redemption.valid_until > 0 && redemption.valid_until <= now) return 'expired'
  if (redemption.valid_from > now) return 'notYetValid'
  return redemption.is_gift && redemption.used_count > 0 ? 'gift' : 'unused'
}
