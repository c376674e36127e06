import type { CallEnd } from '#domain/accounts/events.ts'
import type { RelayError, RelayErrorCode } from '../canonical/relay-error.ts'
import { OPENAI_ERRORS } from '../dialects/openai-chat/error-format.ts'
import type { AttemptError } from '../pipeline/attempt-end-types.ts'
import { type Exchange, newCallId } from '../pipeline/http-exchange.ts'

const NORMAL = 1000
const POLICY_VIOLATION = 1008
const INTERNAL_ERROR = 1011
const SERVICE_RESTART = 1012

const OF_PROVIDER = /^(?:upstream_|output_limit_ignored|store_unavailable|internal_error)/

/** Reports whether an error is a failure of the provider or of the gateway, not of the caller. */
export const isProviderFault = ({ code }: RelayError): boolean => OF_PROVIDER.test(code)

/**
 * The recorded errors of calls that were cut because the gateway ended their session, by the code
 * of the session's error. As for streams, the log does not blame the provider or the caller then.
 */
const ERRORS_OF_CUT_CALLS: { readonly [code in RelayErrorCode]?: AttemptError } = {
  output_limit_ignored: 'over-limit',
  sensitive_answer: 'screened',
  draining: 'draining',
  store_unavailable: 'store-unavailable',
  ...{ insufficient_quota: 'balance-spent', balance_spent: 'balance-spent' },
  ...{ user_disabled: 'revoked', session_ended: 'revoked', invalid_key: 'revoked' },
  ...{ token_disabled: 'revoked', token_expired: 'revoked', token_exhausted: 'revoked' },
  ...{ ip_not_allowed: 'revoked', group_not_allowed: 'revoked' },
}

/** Returns the error to record for a call without an end of its own when its session ends. */
export function errorOfCutCall(end: CallEnd, endReason?: RelayErrorCode): AttemptError | null {
  if (end === 'done') return null
  const error = endReason === undefined ? undefined : ERRORS_OF_CUT_CALLS[endReason]
  return error ?? (end === 'client-gone' ? 'caller-gone' : 'cut')
}

/** The end of a call that is not charged. */
type Release = {
  readonly reason: CallEnd
  readonly errorCode: RelayErrorCode
  /** The error of the attempt if the gateway ended the session; otherwise null. */
  readonly error: AttemptError | null
}

/**
 * Returns how a response without output ends when the provider or the gateway ends its session.
 * `endReason` is the code of the session's error.
 */
export function releaseOfCutCall(endReason: RelayErrorCode = 'upstream_incomplete'): Release {
  const reason = endReason === 'upstream_timeout' ? 'timeout' : 'incomplete'
  return { reason, errorCode: endReason, error: ERRORS_OF_CUT_CALLS[endReason] ?? null }
}

/**
 * Returns the code with which the websocket of the caller is closed. `error` is null if the session
 * ends without an error.
 */
export function closeCodeOf(error: RelayError | null): number {
  if (error === null) return NORMAL
  if (error.code === 'draining') return SERVICE_RESTART
  return isProviderFault(error) ? INTERNAL_ERROR : POLICY_VIOLATION
}

/**
 * Returns the event that shows an error to the caller. `call` is the id of the request that opened
 * the session. `eventId` is the caller's id of the refused event.
 */
export function sessionErrorEvent(
  error: RelayError,
  { language }: Pick<Exchange, 'language'>,
  call: string,
  eventId: string | null,
): object {
  const { body } = OPENAI_ERRORS.errorBody(error, language, call)
  const { error: shown } = body as { readonly error: object }
  const event = { type: 'error', event_id: `event_${newCallId(Date.now())}` }
  return { ...event, error: { ...shown, event_id: eventId } }
}
