import { isLoggableId } from '#relay/canonical/redact-provider-texts.ts'
import { confidentialOf } from './failed-call-answer.ts'
import type { Exchange } from './http-exchange.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import { type ProviderHeaders, requestIdHeaderIn } from './read-retry-delay-and-request-id.ts'

/**
 * Forwards the headers of a provider's response that callers may see. Returns the provider's id of
 * the request if it is to be logged, or null.
 */
export function showProviderHeaders(
  exchange: Exchange,
  candidate: Candidate,
  headers: ProviderHeaders,
): string | null {
  showTurnState(exchange, candidate, headers)
  const isLogged = exchange.log?.isLevelEnabled('debug') === true
  const isShown = candidate.channel.rules.showsRateLimits
  if (!isLogged && !isShown) return null
  const confidential = confidentialOf(candidate)
  if (isShown) showRateLimits(exchange, headers, confidential)
  return isLogged ? requestIdIn(headers, confidential) : null
}

/**
 * Returns the provider's id of a request for the log. Returns null if there is none, or if it might
 * contain a key or an address.
 */
function requestIdIn(headers: ProviderHeaders, confidential: readonly string[]): string | null {
  const id = requestIdHeaderIn(headers)
  return id !== null && isLoggableId(id, confidential) ? id : null
}

const TURN_STATE = 'x-codex-turn-state'
/** Matches an opaque text that is short enough for a header. */
const TURN_STATE_VALUE = /^[\x21-\x7e]{1,4096}$/

/**
 * Forwards the provider's header `x-codex-turn-state`. The client Codex sends this state with the
 * next calls of the same turn. The state of an earlier attempt is removed.
 */
function showTurnState(
  { response }: Exchange,
  { request, conversion }: Candidate,
  headers: ProviderHeaders,
): void {
  const isResponsesApi = request.format.name === 'responses' && conversion === null
  if (!isResponsesApi || response.headersSent) return
  const state = headers[TURN_STATE]
  if (typeof state === 'string' && TURN_STATE_VALUE.test(state)) {
    response.setHeader(TURN_STATE, state)
  } else response.removeHeader(TURN_STATE)
}

const RATE_LIMIT = /^(?:anthropic|x)-ratelimit-[a-z\d-]{1,64}$/
/** Matches counts, times, durations and single words. */
const RATE_LIMIT_VALUE = /^[\w.:+-]{1,40}$/
const RATE_LIMITS_MAX = 32

/**
 * Forwards the provider's headers that state the provider's rate limits and what is left of them.
 * Headers of an earlier attempt are removed.
 */
export function showRateLimits(
  { response }: Exchange,
  headers: ProviderHeaders,
  confidential: readonly string[],
): void {
  if (response.headersSent) return
  for (const name of response.getHeaderNames()) {
    if (RATE_LIMIT.test(name)) response.removeHeader(name)
  }
  let shown = 0
  for (const name in headers) {
    const value = headers[name]
    if (!RATE_LIMIT.test(name) || typeof value !== 'string' || shown === RATE_LIMITS_MAX) continue
    if (!RATE_LIMIT_VALUE.test(value) || !isLoggableId(value, confidential)) continue
    response.setHeader(name, value)
    shown += 1
  }
}
