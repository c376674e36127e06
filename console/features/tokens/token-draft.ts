import type { TFunction } from 'i18next'
import type { Translations } from '#console/i18n/translation-types.ts'
import { dateFieldText, secondsOfDateField } from '#console/ui/forms/date-field-text.ts'
import {
  bodyOf,
  changedFields,
  type DraftOf,
  draftOf,
  newDraft,
  type ValidationError,
  type ValidationErrors,
  validateFields,
  validateInteger,
  validationErrorText,
} from '#console/ui/forms/resource-draft.ts'
import { isSharedErrorKey } from '#console/ui/forms/server-field-errors.ts'
import type { DraftForm, FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import {
  type AmountUnit,
  amountOfQuota,
  quotaOfAmount,
} from '#console/ui/quota/convert-entered-amount.ts'
import { writableFields } from '#read-api/contract/resource-field-definition.ts'
import {
  RATE_LIMIT_FIELDS,
  TOKEN_BATCH_MAX,
  TOKEN_FIELDS,
} from '#read-api/contract/token-fields.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import type { CreateToken, UpdateToken } from '#write-api/contract/tokens.ts'

const { remainQuota, expiredTime, ...FORM_FIELDS } = writableFields(TOKEN_FIELDS)

/** The values of the token form. Numbers and dates are kept as the user typed them. */
export type TokenDraft = DraftOf<typeof FORM_FIELDS> & {
  amount: string
  neverExpires: boolean
  expiresAt: string
  rateLimit: DraftOf<typeof RATE_LIMIT_FIELDS>
  count: string
}

type TokenErrorKey =
  | Exclude<keyof Translations['tokens']['error'], 'amountChangedByEdit' | 'ipInvalid'>
  | 'expiryPast'
  | 'modelsMissing'
  | ValidationError
  | { readonly key: 'ipInvalid'; readonly line: number; readonly address: string }
type TokenErrorKeys = Partial<Record<Exclude<keyof TokenDraft, 'rateLimit'>, TokenErrorKey>> & {
  rateLimit?: ValidationErrors<typeof RATE_LIMIT_FIELDS>
}

export const EXPIRY_PRESETS = ['never', 'hour', 'day', 'month'] as const
export type ExpiryPreset = (typeof EXPIRY_PRESETS)[number]

const NEVER = expiredTime.initial

export const expiryText = (seconds: number): string => (seconds < 0 ? '' : dateFieldText(seconds))

export function presetText(preset: ExpiryPreset, now: Date): string {
  const date = new Date(now)
  if (preset === 'never') return ''
  if (preset === 'hour') date.setHours(date.getHours() + 1)
  if (preset === 'day') date.setDate(date.getDate() + 1)
  if (preset === 'month') date.setMonth(date.getMonth() + 1)
  return expiryText(Math.floor(date.getTime() / 1000))
}

export const newToken = (unit: AmountUnit): TokenDraft => ({
  ...newDraft(FORM_FIELDS),
  amount: amountOfQuota(BigInt(remainQuota.initial), unit),
  neverExpires: true,
  expiresAt: '',
  rateLimit: newDraft(RATE_LIMIT_FIELDS),
  count: '1',
})

export const draftOfToken = (token: Token, unit: AmountUnit): TokenDraft => ({
  ...draftOf(FORM_FIELDS, token),
  amount: amountOfQuota(BigInt(token.remain_quota), unit),
  neverExpires: token.expired_time === NEVER,
  expiresAt: expiryText(token.expired_time),
  rateLimit: draftOf(RATE_LIMIT_FIELDS, token),
  count: '1',
})

/**
 * Returns an error key for each invalid field. An expiry in the past is valid only if it is equal
 * to the stored expiry `expiresBefore`.
 */
export function validateToken(
  draft: TokenDraft,
  unit: AmountUnit,
  expiresBefore = '',
): TokenErrorKeys {
  const errorKeys: TokenErrorKeys = validateFields(FORM_FIELDS, draft)
  const set = (field: keyof TokenErrorKeys & string, errorKey: TokenErrorKey | null) => {
    if (errorKey !== null) Object.assign(errorKeys, { [field]: errorKey })
  }
  set('name', draft.name.trim() === '' ? 'nameMissing' : null)
  if (!draft.isUnlimited && quotaOfAmount(draft.amount, unit) === null)
    set('amount', 'amountInvalid')
  const expiry = draft.neverExpires ? Number.POSITIVE_INFINITY : secondsOfDateField(draft.expiresAt)
  if (expiry === null) set('expiresAt', 'expiryInvalid')
  else if (expiry * 1_000 <= Date.now() && draft.expiresAt !== expiresBefore) {
    set('expiresAt', 'expiryPast')
  }
  const rateLimitErrors = draft.rateLimit.isEnabled
    ? validateFields(RATE_LIMIT_FIELDS, draft.rateLimit)
    : {}
  if (Object.keys(rateLimitErrors).length > 0) errorKeys.rateLimit = rateLimitErrors
  if (draft.hasModelLimits && draft.models.length === 0) set('models', 'modelsMissing')
  const invalidAddress = firstInvalidAddress(draft.allowIps)
  if (invalidAddress !== null) set('allowIps', { key: 'ipInvalid', ...invalidAddress })
  set('count', validateInteger({ min: 1, max: TOKEN_BATCH_MAX }, draft.count))
  return errorKeys
}

/**
 * Returns the body of the request that creates tokens. The draft must be valid according to
 * `validateToken`.
 */
export const createTokenBody = (draft: TokenDraft, unit: AmountUnit): CreateToken => ({
  ...bodyOf(FORM_FIELDS, { ...draft, allowIps: addressLines(draft.allowIps).join('\n') }),
  remain_quota: Number(quotaOfAmount(draft.amount, unit) ?? 0n),
  expired_time: draft.neverExpires ? NEVER : (secondsOfDateField(draft.expiresAt) ?? NEVER),
  ...bodyOf(RATE_LIMIT_FIELDS, draft.rateLimit),
})

/**
 * The remaining quota (in quota units) and the budget version that the form last showed for a
 * token.
 */
export type ShownBudget = { quota: number; version: number }

/**
 * Returns the request body with the changed fields of a token. A changed quota is sent together
 * with the quota in `shown`, and the server adds the difference to the token's quota. Quota that
 * was spent in the meantime therefore stays spent.
 */
export function updateTokenBody(
  before: TokenDraft,
  after: TokenDraft,
  unit: AmountUnit,
  shown: ShownBudget,
): Omit<UpdateToken, 'id'> {
  const { remain_quota: _, ...old } = createTokenBody(before, unit)
  const { remain_quota: quota, ...terms } = createTokenBody(after, unit)
  const changed = changedFields(old, terms)
  // The form hides the amount of an unlimited token, so the amount is not sent.
  if (after.isUnlimited || quota === undefined || quota === shown.quota) return changed
  const base = { expected_remain_quota: shown.quota, budget_version: shown.version }
  return { ...changed, remain_quota: quota, ...base }
}

export const namesOf = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/**
 * Returns the error messages of the invalid fields. `rateLimit` is a group of fields, and its text
 * only marks the group as invalid. The form shows the messages from `fieldErrors` at the single
 * fields of the group.
 */
export function tokenErrors(
  t: TFunction,
  draft: TokenDraft,
  unit: AmountUnit,
  expiresBefore: string,
): FieldErrors<TokenDraft> {
  const { rateLimit, ...errorKeys } = validateToken(draft, unit, expiresBefore)
  const texts = Object.entries(errorKeys).map(([name, errorKey]) => [name, textOf(errorKey)])
  return {
    ...Object.fromEntries(texts),
    ...(rateLimit === undefined ? {} : { rateLimit: t('tokens.rateLimit.isEnabled') }),
  }
  function textOf(errorKey: TokenErrorKey): string {
    if (typeof errorKey === 'string') {
      return t(isSharedErrorKey(errorKey) ? `shared.error.${errorKey}` : `tokens.error.${errorKey}`)
    }
    if (errorKey.key === 'ipInvalid') return t('tokens.error.ipInvalid', errorKey)
    return validationErrorText(t, errorKey)
  }
}

export type TokenFormProps = {
  form: DraftForm<TokenDraft>
  unit: AmountUnit
  isNew: boolean
}

export const addressLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

export function firstInvalidAddress(text: string): { line: number; address: string } | null {
  const lines = text.split('\n').map((line) => line.trim())
  const at = lines.findIndex((line) => line !== '' && !isAddress(line))
  return at < 0 ? null : { line: at + 1, address: (lines[at] ?? '').slice(0, 60) }
}

/**
 * Reports whether `text` is an IPv4 address, an IPv6 address, or a range of such addresses in CIDR
 * notation.
 */
function isAddress(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const isIPv4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(address)
  const isIPv6 = !isIPv4 && URL.canParse(`http://[${address}]/`)
  if (rest.length > 0 || !(isIPv4 || isIPv6)) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIPv4 ? 32 : 128)
}
