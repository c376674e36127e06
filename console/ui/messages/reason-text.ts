import type { TFunction } from 'i18next'

/**
 * The reason codes with a fixed text. `reasonText` also translates `status-<number>` and
 * `keyword:<word>`. All other codes are shown as they are.
 */
const KNOWN_REASONS = [
  'connect',
  'proxy',
  'timeout',
  'cut',
  'format',
  'no-image',
  'no-result',
  'blocked',
  'error-event',
  'too-large',
  'caller-gone',
  'draining',
  'revoked',
  'screened',
  'balance-spent',
  'over-limit',
  'store-unavailable',
  'slow',
  'expired',
  'insufficient_quota',
  'invalid_api_key',
  'account_deactivated',
  'billing_hard_limit_reached',
  'billing_not_active',
] as const
type KnownReason = (typeof KNOWN_REASONS)[number]

/** Translates a reason code, such as why a channel is disabled or why an attempt failed. */
export function reasonText(t: TFunction, code: string): string {
  const status = /^status-(\d{3})$/.exec(code)?.[1]
  if (status !== undefined) return t('health.reason.status', { status })
  if (code.startsWith('keyword:')) return t('health.reason.keyword', { keyword: code.slice(8) })
  const knownReason = KNOWN_REASONS.find((one): one is KnownReason => one === code)
  return knownReason === undefined ? code : t(`health.reason.${knownReason}`)
}
