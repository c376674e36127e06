import { type AmountUnit, amountOfQuota, quotaOfAmount } from '#console/ui/quota-amount.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import type { CreateToken } from '#write-api/contract/tokens.ts'
import { addressLines, wrongAddress } from './address-lines.ts'
import { expirySeconds, expiryText, NEVER } from './token-expiry.ts'

/** What the form holds: numbers as typed, dates as their field has them. */
export type TokenDraft = {
  name: string
  amount: string
  isUnlimited: boolean
  neverExpires: boolean
  expiresAt: string
  hasRateLimit: boolean
  ratePeriod: string
  rateCount: string
  rateSuccess: string
  /** 0: no limit, as `concurrency`. */
  tokensPerMinute: string
  concurrency: string
  hasModelLimits: boolean
  models: readonly string[]
  allowIps: string
  group: string
  /** Tokens to create at once; 1 when editing. */
  count: string
}

export const DEFAULT_QUOTA = 500_000n
export const COUNT_MAX = 100
export const NAME_MAX = 100

export type TokenFault =
  | 'nameMissing'
  | 'nameTooLong'
  | 'amountWrong'
  | 'expiryWrong'
  | 'expiryPast'
  | 'numberWrong'
  | 'countWrong'
  | 'modelsMissing'
  | 'ipWrong'
export type TokenFaults = Partial<Record<keyof TokenDraft, TokenFault>>

export const newToken = (unit: AmountUnit, group: string): TokenDraft => ({
  name: '',
  amount: amountOfQuota(DEFAULT_QUOTA, unit),
  isUnlimited: false,
  neverExpires: true,
  expiresAt: '',
  hasRateLimit: false,
  ratePeriod: '60',
  rateCount: '1000',
  rateSuccess: '10',
  tokensPerMinute: '0',
  concurrency: '0',
  hasModelLimits: false,
  models: [],
  allowIps: '',
  group,
  count: '1',
})

export const draftOfToken = (token: Token, unit: AmountUnit): TokenDraft => ({
  name: token.name,
  amount: amountOfQuota(BigInt(token.remain_quota), unit),
  isUnlimited: token.unlimited_quota,
  neverExpires: token.expired_time === NEVER,
  expiresAt: expiryText(token.expired_time),
  hasRateLimit: token.rate_limit_enabled,
  ratePeriod: String(token.rate_limit_period),
  rateCount: String(token.rate_limit_count),
  rateSuccess: String(token.rate_limit_success),
  tokensPerMinute: String(token.rate_limit_tpm),
  concurrency: String(token.max_concurrency),
  hasModelLimits: token.model_limits_enabled,
  models: namesOf(token.model_limits),
  allowIps: token.allow_ips,
  group: token.group,
  count: '1',
})

/** `expiresBefore`: the text that an edited token came with, which may be over by now. */
export function tokenFaults(draft: TokenDraft, unit: AmountUnit, expiresBefore = ''): TokenFaults {
  const faults: TokenFaults = {}
  if (draft.name.trim() === '') faults.name = 'nameMissing'
  else if ([...draft.name.trim()].length > NAME_MAX) faults.name = 'nameTooLong'
  if (!draft.isUnlimited && quotaOfAmount(draft.amount, unit) === null) {
    faults.amount = 'amountWrong'
  }
  const expiry = draft.neverExpires ? Number.POSITIVE_INFINITY : expirySeconds(draft.expiresAt)
  if (expiry === null) faults.expiresAt = 'expiryWrong'
  else if (expiry * 1_000 <= Date.now() && draft.expiresAt !== expiresBefore) {
    faults.expiresAt = 'expiryPast'
  }
  if (draft.hasRateLimit) {
    if (!isWhole(draft.ratePeriod, 1, 31_536_000)) faults.ratePeriod = 'numberWrong'
    if (!isWhole(draft.rateCount, 0, 1_000_000_000)) faults.rateCount = 'numberWrong'
    if (!isWhole(draft.rateSuccess, 0, 1_000_000_000)) faults.rateSuccess = 'numberWrong'
  }
  if (!isWhole(draft.tokensPerMinute, 0, 1_000_000_000)) faults.tokensPerMinute = 'numberWrong'
  if (!isWhole(draft.concurrency, 0, 100_000)) faults.concurrency = 'numberWrong'
  if (draft.hasModelLimits && draft.models.length === 0) faults.models = 'modelsMissing'
  if (wrongAddress(draft.allowIps) !== null) faults.allowIps = 'ipWrong'
  if (!isWhole(draft.count, 1, COUNT_MAX)) faults.count = 'countWrong'
  return faults
}

/** The fields as the server takes them; ask `tokenFaults` first. */
export const termsOfDraft = (draft: TokenDraft, unit: AmountUnit): CreateToken => ({
  name: draft.name.trim(),
  remain_quota: Number(quotaOfAmount(draft.amount, unit) ?? 0n),
  unlimited_quota: draft.isUnlimited,
  expired_time: draft.neverExpires ? NEVER : (expirySeconds(draft.expiresAt) ?? NEVER),
  rate_limit_enabled: draft.hasRateLimit,
  rate_limit_period: wholeOr(draft.ratePeriod, 60),
  rate_limit_count: wholeOr(draft.rateCount, 1000),
  rate_limit_success: wholeOr(draft.rateSuccess, 10),
  rate_limit_tpm: wholeOr(draft.tokensPerMinute, 0),
  max_concurrency: wholeOr(draft.concurrency, 0),
  model_limits_enabled: draft.hasModelLimits,
  model_limits: draft.models.join(','),
  allow_ips: addressLines(draft.allowIps).join('\n'),
  group: draft.group,
})

/**
 * Only what the drawer changed: a quota left alone is not sent, so that calls made meanwhile
 * are not given back.
 */
export function changedTerms(
  before: TokenDraft,
  after: TokenDraft,
  unit: AmountUnit,
): Partial<CreateToken> {
  const old: Readonly<Record<string, unknown>> = termsOfDraft(before, unit)
  const entries = Object.entries(termsOfDraft(after, unit))
  return Object.fromEntries(entries.filter(([key, value]) => old[key] !== value))
}

export const namesOf = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

const isWhole = (text: string, min: number, max: number): boolean =>
  /^\d{1,10}$/.test(text.trim()) && Number(text) >= min && Number(text) <= max

const wholeOr = (text: string, otherwise: number): number =>
  /^\d{1,10}$/.test(text.trim()) ? Number(text) : otherwise

/** What the form and its groups of fields share. */
export type TokenFormProps = {
  draft: TokenDraft
  faults: TokenFaults
  unit: AmountUnit
  isNew: boolean
  onChange: (patch: Partial<TokenDraft>) => void
}
