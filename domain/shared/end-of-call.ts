/** The error codes of attempts that the gateway, and not the provider, ended. */
const GATEWAY_ERRORS: ReadonlySet<string> = new Set([
  'screened',
  'revoked',
  'balance-spent',
  'over-limit',
  'draining',
  'store-unavailable',
])

/**
 * Returns how a call ended. If the gateway ended the last attempt, returns the error code of this
 * attempt, because the provider is not to blame. Otherwise, returns `end`.
 */
export function endOf(attempts: readonly { readonly error: string | null }[], end: string): string {
  const error = attempts.at(-1)?.error ?? null
  return error !== null && GATEWAY_ERRORS.has(error) ? error : end
}

type ModelAndGroup = { readonly model: string; readonly group: string }

/**
 * Returns the requested model and group of a call if another model or group served it, and
 * otherwise undefined. An event may name them although these served the call.
 */
export function requestIfServedByOther({
  requested,
  model,
  group,
}: ModelAndGroup & { readonly requested?: ModelAndGroup }): ModelAndGroup | undefined {
  return requested?.model === model && requested.group === group ? undefined : requested
}
