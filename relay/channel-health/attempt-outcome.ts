import { providerErrorMeaning } from '#relay/canonical/read-provider-error-body.ts'
import type { AttemptEnd, AttemptError } from '#relay/pipeline/attempt-end-types.ts'
import { accountErrorOf } from '#relay/pipeline/detect-provider-account-error.ts'
import { isModelMissing } from '#relay/pipeline/detect-refused-content-and-missing-models.ts'

/**
 * The probable cause of a failure. A failed connection points to the channel, a missing model to
 * the model, and a rejected account to the key.
 */
export type Blame = 'channel' | 'model' | 'key' | 'unknown'

/** A failure of the provider: its code, and the probable cause. */
export type AttemptFailure = { readonly reason: string; readonly blame: Blame }

/**
 * The result of an attempt with regard to the provider's health. `well` means that the provider
 * works, even if it reports an error in the caller's request. `nothing` means that the attempt says
 * nothing about the provider.
 */
export type AttemptOutcome = 'well' | 'nothing' | AttemptFailure

/**
 * The reasons why the gateway or the caller ended an attempt. None of them is a failure of the
 * provider.
 */
export const NOT_PROVIDER_ERRORS: ReadonlySet<AttemptError> = new Set([
  'caller-gone',
  'draining',
  'revoked',
  'screened',
  'balance-spent',
  'store-unavailable',
])

/**
 * The errors of attempts in which the provider delivered its answer correctly. For example, a
 * provider may withhold an image because of the caller's prompt, or return no vector for a blank
 * text.
 */
const USABLE: ReadonlySet<AttemptError> = new Set([
  ...(['screened', 'model-fault', 'no-image', 'no-result', 'blocked'] as const),
])

/**
 * Reports whether the request itself makes the answer too large: the answer repeats the request, or
 * it is a plain answer beyond the limit, or a stream of which nothing could be delivered, because
 * an event is beyond the limit. In all cases, any other provider would send an equally long answer
 * and charge for it.
 */
export const isTooLargeByRequest = ({
  error,
  hasBegun,
  isEchoOfRequest,
  tail,
}: Extract<AttemptEnd, { readonly kind: 'failed' }>): boolean =>
  isEchoOfRequest === true || tail !== undefined || (error === 'too-large' && hasBegun === true)

/** Classifies the end of an attempt by what it shows about the provider's health. */
export function outcomeOf(end: AttemptEnd): AttemptOutcome {
  if (end.kind === 'plain') return 'well'
  if (end.error === null || USABLE.has(end.error)) return 'well'
  if (NOT_PROVIDER_ERRORS.has(end.error)) return 'nothing'
  if (end.kind === 'streamed') return { reason: end.error, blame: 'unknown' }
  if (isTooLargeByRequest(end)) return 'nothing'
  if (end.isProxy === true) return { reason: 'proxy', blame: 'channel' }
  if (end.error !== 'status') return errorOutcome(end)
  return statusOutcome(end)
}

/**
 * Classifies an error without an error status. An error event about an input that is too long
 * counts as a sign that the provider works, so that callers can't open circuits with such an input.
 */
function errorOutcome(end: Extract<AttemptEnd, { readonly kind: 'failed' }>): AttemptOutcome {
  const { error, body } = end
  const code = accountErrorOf(end)
  if (code !== null) return { reason: code, blame: 'key' }
  if (error === 'error-event' && providerErrorMeaning(body, 502) === 'context-length') return 'well'
  return { reason: error, blame: error === 'connect' ? 'channel' : 'unknown' }
}

/**
 * Classifies an error status. A rejected request counts as a sign that the provider works, so that
 * callers can't open circuits with invalid requests. A 403 with an account error code is blamed on
 * the key. Any other 403 counts as a rejected request.
 */
function statusOutcome(end: Extract<AttemptEnd, { readonly kind: 'failed' }>): AttemptOutcome {
  const { status } = end
  if (status === null) return { reason: 'status', blame: 'unknown' }
  const account = accountErrorOf(end)
  if (account !== null && account !== 'status-403') return { reason: account, blame: 'key' }
  if (status === 404 || isModelMissing(end)) return { reason: `status-${status}`, blame: 'model' }
  if (status === 429) return { reason: 'status-429', blame: 'key' }
  const isProviderFault = status < 400 || status >= 500 || status === 408
  return isProviderFault ? { reason: `status-${status}`, blame: 'unknown' } : 'well'
}
