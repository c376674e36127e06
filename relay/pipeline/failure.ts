import { RELAY_ERRORS } from '#relay/canonical/relay-errors.ts'
import { type ErrorBody, providerErrorBody } from '#relay/dialects/openai-chat/error-body.ts'
import { type RelayError, type RelayErrorCode, relayError } from '../canonical/relay-error.ts'
import { confidentialTo } from '../views/channel-view.ts'
import { accountCodeIn, accountErrorOf } from './account-error.ts'
import type { AttemptEnd, AttemptError } from './call-upstream.ts'
import { type Exchange, errorEvent, sendError, sendJson } from './exchange.ts'
import type { Candidate } from './plan-call.ts'

/** How a call that brought no answer is explained to its caller. */
export type FailureAnswer = {
  readonly reason: 'client-gone' | 'no-channel'
  readonly errorCode: string
  readonly status: number
  readonly retryAfterMs: number
} & (
  | { readonly error: RelayError }
  /** The provider's own error, without what callers may not read. */
  | { readonly body: ErrorBody }
)

/** The error that callers get for each failure of an attempt. */
export const ERROR_CODE_OF: Record<AttemptError, RelayErrorCode> = {
  status: 'upstream_error',
  'error-event': 'upstream_error',
  connect: 'upstream_unreachable',
  format: 'upstream_format',
  timeout: 'upstream_timeout',
  cut: 'upstream_incomplete',
  'too-large': 'upstream_format',
  draining: 'draining',
  // A placeholder: the call knows the actual reason.
  revoked: 'user_disabled',
  screened: 'sensitive_answer',
  'balance-spent': 'balance_spent',
  'store-unavailable': 'store_unavailable',
  'over-limit': 'output_limit_ignored',
  'caller-gone': 'upstream_incomplete',
}

/** The status that nginx logs for a caller that left. It goes to the ledger and is never sent. */
const CALLER_GONE = 499

type Circumstances = {
  readonly isHidden: boolean
  readonly isCallerGone: boolean
  /** The error to answer with when no channel was tried; null: one was. */
  readonly unserved: RelayError | null
}

/** For callers that left: nobody reads it. */
const NO_CHANNEL = relayError('no_channel')

export function failureOf(
  candidate: Candidate | null,
  end: Extract<AttemptEnd, { readonly kind: 'failed' }> | null,
  { isHidden, isCallerGone, unserved }: Circumstances,
): FailureAnswer {
  const reason = isCallerGone ? 'client-gone' : 'no-channel'
  if (isCallerGone || end === null || candidate === null) {
    const error = unserved ?? NO_CHANNEL
    const status = isCallerGone ? CALLER_GONE : RELAY_ERRORS[error.code].status
    const errorCode = isCallerGone ? 'client_gone' : error.code
    return { reason, errorCode, status, retryAfterMs: 0, error }
  }
  const { error: cause, status, retryAfterMs } = end
  if (cause !== 'status' && cause !== 'error-event') {
    const error = relayError(ERROR_CODE_OF[cause], retryAfterMs > 0 ? { retryAfter: 1 } : {})
    const { status: shown } = RELAY_ERRORS[error.code]
    return { reason, errorCode: error.code, status: shown, retryAfterMs, error }
  }
  const mapped = candidate.channel.rules.statuses.get(status ?? 0)
  // NOTE: a provider's 401 is about our key. Passed on, it would make callers change their own.
  const isAccounts = accountErrorOf(end) !== null || accountCodeIn(end.body) !== null
  if (mapped === undefined && isAccounts) {
    const error = relayError('upstream_account')
    const { status: shown } = RELAY_ERRORS.upstream_account
    return { reason, errorCode: error.code, status: shown, retryAfterMs: 0, error }
  }
  const isFault = status !== null && status >= 400 && status <= 599
  const shown = mapped ?? (isFault ? status : 502)
  const known = confidentialOf(candidate)
  const body = providerErrorBody(end.body, status ?? 502, { isHidden, known })
  return { reason, errorCode: `upstream_${cause}`, status: shown, retryAfterMs, body }
}

/** Texts to remove from a provider's error, such as the name that a mapping gave the model. */
export const confidentialOf = ({ channel, upstreamModel }: Candidate): readonly string[] =>
  upstreamModel === null ? confidentialTo(channel) : [...confidentialTo(channel), upstreamModel]

/** As a response, or as an event where the response has begun; nothing where it has ended. */
export function answerError(exchange: Exchange, error: RelayError): void {
  const { response } = exchange
  if (response.destroyed || response.writableEnded) return
  if (response.headersSent) response.end(errorEvent(exchange, error.code))
  else sendError(exchange, error)
}

export function answerFailure(exchange: Exchange, failure: FailureAnswer): void {
  const { response } = exchange
  if ('error' in failure) return answerError(exchange, failure.error)
  if (response.destroyed || response.writableEnded) return
  // Pings have begun the response, so that the error can only be an event of it.
  if (response.headersSent) {
    response.end(`data: ${JSON.stringify(failure.body)}\n\n`)
    return
  }
  const seconds = Math.ceil(failure.retryAfterMs / 1_000)
  const headers = seconds > 0 ? ['Retry-After', `${seconds}`] : []
  sendJson(exchange, failure.status, failure.body, headers)
}
