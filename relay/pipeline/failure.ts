import { RELAY_ERRORS } from '#relay/canonical/relay-errors.ts'
import { type ErrorBody, providerErrorBody } from '#relay/dialects/openai-chat/error-body.ts'
import { type RelayError, type RelayErrorCode, relayError } from '../canonical/relay-error.ts'
import { confidentialTo } from '../views/channel-view.ts'
import { accountCodeIn, accountErrorOf } from './account-error.ts'
import type { AttemptEnd, AttemptError } from './call-upstream.ts'
import { type Exchange, errorEvent, sendError, sendJson } from './exchange.ts'
import type { Candidate } from './plan-call.ts'

/** What the caller is told of a call that came to nothing. */
export type FailureAnswer = {
  readonly reason: 'client-gone' | 'no-channel'
  readonly errorCode: string
  readonly status: number
  readonly retryAfterMs: number
} & (
  | { readonly error: RelayError }
  /** The provider's own error, fit for the caller's eyes. */
  | { readonly body: ErrorBody }
)

/** Our own words for a provider's failure. */
export const ERROR_CODE_OF: Record<AttemptError, RelayErrorCode> = {
  status: 'upstream_error',
  'error-event': 'upstream_error',
  connect: 'upstream_unreachable',
  format: 'upstream_format',
  timeout: 'upstream_timeout',
  cut: 'upstream_incomplete',
  'too-large': 'upstream_format',
  draining: 'draining',
  // The call itself knows the reason.
  revoked: 'user_disabled',
  screened: 'sensitive_answer',
  'balance-spent': 'balance_spent',
  'over-limit': 'output_limit_ignored',
  'caller-gone': 'upstream_incomplete',
}

/** nginx's number for a caller that left; it is only ever written to the ledger. */
const CALLER_GONE = 499

type Circumstances = {
  readonly isHidden: boolean
  readonly isCallerGone: boolean
  /** Said when no channel was tried; null: one was. */
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
  // NOTE: a provider's 401 is about our key. Passed on, it would tell the caller to mend his own.
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

/** What nobody may read in a provider's words: also the name that a mapping gave the model. */
export const confidentialOf = ({ channel, upstreamModel }: Candidate): readonly string[] =>
  upstreamModel === null ? confidentialTo(channel) : [...confidentialTo(channel), upstreamModel]

export function answerFailure(exchange: Exchange, failure: FailureAnswer): void {
  const { response } = exchange
  // Pings have begun the answer: what went wrong can only be said inside it.
  if (response.headersSent) {
    if ('error' in failure) response.end(errorEvent(exchange, failure.error.code))
    else response.end(`data: ${JSON.stringify(failure.body)}\n\n`)
    return
  }
  if ('error' in failure) return sendError(exchange, failure.error)
  const seconds = Math.ceil(failure.retryAfterMs / 1_000)
  const headers = seconds > 0 ? ['Retry-After', `${seconds}`] : []
  sendJson(exchange, failure.status, failure.body, headers)
}
