import type { TFunction } from 'i18next'
import type { Translations } from '#console/i18n/translation-types.ts'
import { secondsOfDateField } from '#console/ui/forms/date-field-text.ts'
import {
  bodyOf,
  changedFields,
  type DraftOf,
  draftOf,
  fieldErrors,
  newDraft,
} from '#console/ui/forms/resource-draft.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import {
  type AmountUnit,
  amountOfQuota,
  quotaOfAmount,
} from '#console/ui/quota/convert-entered-amount.ts'
import {
  REDEMPTION_COUNT_MAX,
  REDEMPTION_KEY_MAX,
  REDEMPTION_NAME_MAX,
  REDEMPTION_TERMS,
} from '#read-api/contract/redemption-fields.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import type { CreateRedemption } from '#write-api/contract/redemptions.ts'

const { quota, maxUses, ...FORM_FIELDS } = REDEMPTION_TERMS

/**
 * The values of the form for redemption codes. Numbers and times are kept as the user typed them.
 */
export type RedemptionDraft = DraftOf<typeof FORM_FIELDS> & {
  amount: string
  count: string
  /** The code to redeem. If this text is empty, the server generates a code. */
  key: string
  /**
   * The maximum number of times that the code can be redeemed. An empty text and -1 mean no limit.
   */
  maxUses: string
}

const DEFAULT_QUOTA = 500_000n

type RedemptionErrorKey = keyof Translations['redemptions']['error']
type RedemptionErrorKeys = FieldErrors<RedemptionDraft, RedemptionErrorKey>

export const newRedemption = (unit: AmountUnit): RedemptionDraft => ({
  ...newDraft(FORM_FIELDS),
  amount: amountOfQuota(DEFAULT_QUOTA, unit),
  count: '1',
  key: '',
  maxUses: '',
})

export const draftOfRedemption = (redemption: Redemption, unit: AmountUnit): RedemptionDraft => ({
  ...draftOf(FORM_FIELDS, redemption),
  amount: amountOfQuota(BigInt(redemption.quota), unit),
  count: '1',
  key: '',
  maxUses: redemption.is_gift && redemption.max_uses >= 0 ? String(redemption.max_uses) : '',
})

/**
 * The stored values of a code that validation needs: the number of its uses, and its expiry. An
 * expiry in the past is valid only if it is equal to `validUntil`.
 */
type StoredValues = { readonly used: number; readonly validUntil: string }

function validateRedemption(draft: RedemptionDraft, unit: AmountUnit, stored: StoredValues) {
  const { used, validUntil } = stored
  const errorKeys: RedemptionErrorKeys = {}
  const name = draft.name.trim()
  if (name === '') errorKeys.name = 'nameMissing'
  else if ([...name].length > REDEMPTION_NAME_MAX) errorKeys.name = 'nameTooLong'
  if ((quotaOfAmount(draft.amount, unit) ?? 0n) <= 0n) errorKeys.amount = 'amountInvalid'
  if (!isWholeNumber(draft.count, 1, REDEMPTION_COUNT_MAX)) errorKeys.count = 'countInvalid'
  const key = draft.key.trim()
  if (/\s/.test(key) || [...key].length > REDEMPTION_KEY_MAX) errorKeys.key = 'keyInvalid'
  else if (key !== '' && draft.count.trim() !== '1') errorKeys.key = 'keyForOne'
  if (draft.isGift && !isUnlimited(draft.maxUses)) {
    if (!isWholeNumber(draft.maxUses, 1, maxUses.max)) errorKeys.maxUses = 'usesInvalid'
    else if (Number(draft.maxUses) < used) errorKeys.maxUses = 'usesTooFew'
  }
  const [from, until] = [secondsOf(draft.validFrom), secondsOf(draft.validUntil)]
  if (from === null) errorKeys.validFrom = 'dateInvalid'
  if (until === null) errorKeys.validUntil = 'dateInvalid'
  if (from && until && from >= until) errorKeys.validUntil = 'dateOrder'
  else if (until && until * 1_000 <= Date.now() && draft.validUntil !== validUntil)
    errorKeys.validUntil = 'datePast'
  return errorKeys
}

export function redemptionErrors(
  t: TFunction,
  draft: RedemptionDraft,
  unit: AmountUnit,
  stored: StoredValues,
): FieldErrors<RedemptionDraft> {
  const errorKeys = Object.entries(validateRedemption(draft, unit, stored))
  const texts = errorKeys.map(([name, errorKey]) => [name, t(`redemptions.error.${errorKey}`)])
  return { ...fieldErrors(t, FORM_FIELDS, draft), ...Object.fromEntries(texts) }
}

/**
 * Returns the body of the request that creates codes. The draft must be valid according to
 * `redemptionErrors`.
 */
export const createRedemptionBody = (
  draft: RedemptionDraft,
  unit: AmountUnit,
): CreateRedemption => ({
  ...bodyOf(FORM_FIELDS, draft),
  quota: Number(quotaOfAmount(draft.amount, unit) ?? 0n),
  max_uses: !draft.isGift || isUnlimited(draft.maxUses) ? -1 : Number(draft.maxUses),
})

export const updateRedemptionBody = (
  before: RedemptionDraft,
  after: RedemptionDraft,
  unit: AmountUnit,
) => changedFields(createRedemptionBody(before, unit), createRedemptionBody(after, unit))

const isUnlimited = (text: string): boolean => text.trim() === '' || text.trim() === '-1'

const secondsOf = (text: string): number | null => secondsOfDateField(text, 0)

const isWholeNumber = (text: string, min: number, max: number): boolean =>
  /^\d{1,10}$/.test(text.trim()) && Number(text) >= min && Number(text) <= max
