import { dateFieldText, secondsOfDateField } from '#console/ui/forms/date-field.ts'
import { changedFields } from '#console/ui/forms/field-draft.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { type AmountUnit, amountOfQuota, quotaOfAmount } from '#console/ui/quota/quota-amount.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import type { CreateRedemption } from '#write-api/contract/redemptions.ts'

/** The form's values: numbers as entered, and dates in the format of a date-time field. */
export type CouponDraft = {
  name: string
  amount: string
  /** The number of codes to create, or 1 while a code is edited. */
  count: string
  /** The key of the code. If the field is empty, the server generates a key. */
  key: string
  isGift: boolean
  /** Empty or -1 means no limit. */
  maxUses: string
  /** Empty means that the code is valid immediately. */
  validFrom: string
  /** Empty means that the code does not expire. */
  validUntil: string
}

export const NAME_MAX = 20
export const COUNT_MAX = 100
const KEY_MAX = 64
const USES_MAX = 1_000_000_000
const DEFAULT_QUOTA = 500_000n

export type CouponFault =
  | 'nameMissing'
  | 'nameTooLong'
  | 'amountWrong'
  | 'countWrong'
  | 'keyWrong'
  | 'keyForOne'
  | 'usesWrong'
  | 'usesTooFew'
  | 'dateWrong'
  | 'dateOrder'
  | 'datePast'
export type CouponFaults = FieldErrors<CouponDraft, CouponFault>

export const newCoupon = (unit: AmountUnit): CouponDraft => ({
  name: '',
  amount: amountOfQuota(DEFAULT_QUOTA, unit),
  count: '1',
  key: '',
  isGift: false,
  maxUses: '',
  validFrom: '',
  validUntil: '',
})

export const draftOfCoupon = (coupon: Redemption, unit: AmountUnit): CouponDraft => ({
  name: coupon.name,
  amount: amountOfQuota(BigInt(coupon.quota), unit),
  count: '1',
  key: '',
  isGift: coupon.is_gift,
  maxUses: coupon.is_gift && coupon.max_uses >= 0 ? String(coupon.max_uses) : '',
  validFrom: dateFieldText(coupon.valid_from),
  validUntil: dateFieldText(coupon.valid_until),
})

/** The redemptions of the edited code, and its stored expiry, which may be in the past. */
type Standing = { readonly used: number; readonly validUntil: string }

export function couponFaults(draft: CouponDraft, unit: AmountUnit, standing: Standing) {
  const { used, validUntil } = standing
  const faults: CouponFaults = {}
  const name = draft.name.trim()
  if (name === '') faults.name = 'nameMissing'
  else if ([...name].length > NAME_MAX) faults.name = 'nameTooLong'
  if ((quotaOfAmount(draft.amount, unit) ?? 0n) <= 0n) faults.amount = 'amountWrong'
  if (!isWhole(draft.count, 1, COUNT_MAX)) faults.count = 'countWrong'
  const key = draft.key.trim()
  if (/\s/.test(key) || [...key].length > KEY_MAX) faults.key = 'keyWrong'
  else if (key !== '' && draft.count.trim() !== '1') faults.key = 'keyForOne'
  if (draft.isGift && !isUnlimited(draft.maxUses)) {
    if (!isWhole(draft.maxUses, 1, USES_MAX)) faults.maxUses = 'usesWrong'
    else if (Number(draft.maxUses) < used) faults.maxUses = 'usesTooFew'
  }
  const [from, until] = [secondsOf(draft.validFrom), secondsOf(draft.validUntil)]
  if (from === null) faults.validFrom = 'dateWrong'
  if (until === null) faults.validUntil = 'dateWrong'
  if (from && until && from >= until) faults.validUntil = 'dateOrder'
  else if (until && until * 1_000 <= Date.now() && draft.validUntil !== validUntil)
    faults.validUntil = 'datePast'
  return faults
}

/** Builds the request body. `couponFaults` must have found no error in the form's values. */
export const termsOfDraft = (draft: CouponDraft, unit: AmountUnit): CreateRedemption => ({
  name: draft.name.trim(),
  quota: Number(quotaOfAmount(draft.amount, unit) ?? 0n),
  is_gift: draft.isGift,
  max_uses: !draft.isGift || isUnlimited(draft.maxUses) ? -1 : Number(draft.maxUses),
  valid_from: secondsOf(draft.validFrom) ?? 0,
  valid_until: secondsOf(draft.validUntil) ?? 0,
})

export const changedTerms = (before: CouponDraft, after: CouponDraft, unit: AmountUnit) =>
  changedFields(termsOfDraft(before, unit), termsOfDraft(after, unit))

const isUnlimited = (text: string): boolean => text.trim() === '' || text.trim() === '-1'

/**
 * Converts a date-time field's text to unix seconds. Returns 0 for an empty text and null for an
 * invalid date.
 */
const secondsOf = (text: string): number | null => secondsOfDateField(text, 0)

const isWhole = (text: string, min: number, max: number): boolean =>
  /^\d{1,10}$/.test(text.trim()) && Number(text) >= min && Number(text) <= max
