import type { Translations } from '#console/i18n/translation-types.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'

export type CouponState = keyof Translations['coupons']['state']

type Told = Pick<
  Redemption,
  'status' | 'is_gift' | 'max_uses' | 'used_count' | 'valid_from' | 'valid_until'
>

/** The status of a used-up code is still 1 (enabled). */
export const isUsedUp = ({ is_gift, max_uses, used_count }: Told): boolean =>
  is_gift && max_uses >= 0 && used_count >= max_uses

export const isSpent = (coupon: Told): boolean => coupon.status !== 1 || isUsedUp(coupon)

export function couponState(coupon: Told, now: number): CouponState {
  if (coupon.status === 3) return 'used'
  if (coupon.status === 2) return 'disabled'
  if (isUsedUp(coupon)) return 'usedUp'
  if (coupon.valid_until > 0 && coupon.valid_until <= now) return 'expired'
  if (coupon.valid_from > now) return 'notYetValid'
  return coupon.is_gift && coupon.used_count > 0 ? 'gift' : 'unused'
}
