import type { Attempt } from '#domain/account/events.ts'

/** Ended by our own doing, or the caller's. */
const OURS = new Set(['caller-gone', 'draining', 'revoked', 'screened'])

/** Statuses that are about us and our account, or the provider's own haste. */
const PROVIDERS = new Set([401, 402, 404, 408, 429])

/**
 * What a try says of its channel; null where it says nothing: the caller left, we were stopping, or
 * the provider refused what the caller had sent. What counts towards turning the channel off is a
 * failure, whatever its status.
 */
export function tryOutcome({ status, error, isAccounts }: Attempt): 'success' | 'failure' | null {
  if (error === null) return 'success'
  if (isAccounts === true) return 'failure'
  if (OURS.has(error)) return null
  const isCallers =
    error === 'status' && status !== null && status >= 400 && status < 500 && !PROVIDERS.has(status)
  return isCallers ? null : 'failure'
}
