import { accountCodeIn, accountErrorOf } from '#relay/pipeline/account-error.ts'
import type { AttemptEnd, AttemptError } from '#relay/pipeline/call-upstream.ts'

/**
 * Whose a failure is, as far as one try can tell: nobody reached is the channel's; a model that is
 * not there is the model's; our account is the key's. Anything else may be either's.
 */
export type Blame = 'channel' | 'model' | 'key' | 'unknown'

export type Failure = { readonly reason: string; readonly blame: Blame }

/** `well`: the provider did its part, be it by telling a caller what is wrong with the request. */
export type Outcome = 'well' | 'nothing' | Failure

/** What ended by our own doing, or the caller's, says nothing of the provider. */
const OURS: ReadonlySet<AttemptError> = new Set([
  'caller-gone',
  'draining',
  'revoked',
  'screened',
  'balance-spent',
  'store-unavailable',
])

/** What one try says of a channel. Reasons are codes. */
export function outcomeOf(end: AttemptEnd): Outcome {
  if (end.kind === 'plain') return 'well'
  if (end.error === null || end.error === 'screened') return 'well'
  if (OURS.has(end.error)) return 'nothing'
  if (end.kind === 'streamed') return { reason: end.error, blame: 'unknown' }
  if (end.isProxy === true) return { reason: 'proxy', blame: 'channel' }
  if (end.error !== 'status') return errorOutcome(end.error, end.body)
  return statusOutcome(end)
}

function errorOutcome(error: AttemptError, body: Buffer): Failure {
  const code = error === 'error-event' ? accountCodeIn(body) : null
  if (code !== null) return { reason: code, blame: 'key' }
  return { reason: error, blame: error === 'connect' ? 'channel' : 'unknown' }
}

/**
 * A refusal of what the caller sent says that the provider works, and counted as a failure it
 * would let any caller open circuits. A bare 403 is such a refusal at some providers.
 */
function statusOutcome(end: Extract<AttemptEnd, { readonly kind: 'failed' }>): Outcome {
  const { status } = end
  if (status === null) return { reason: 'status', blame: 'unknown' }
  const account = accountErrorOf(end)
  if (account !== null && account !== 'status-403') return { reason: account, blame: 'key' }
  if (status === 404) return { reason: 'status-404', blame: 'model' }
  if (status === 429) return { reason: 'status-429', blame: 'key' }
  const isOurs = status < 400 || status >= 500 || status === 408
  return isOurs ? { reason: `status-${status}`, blame: 'unknown' } : 'well'
}
