import { RELAY_ERRORS } from '#relay/canonical/relay-error-catalogue.ts'
import type { ErrorFormat } from '#relay/dialects/error-format.ts'
import { providerErrorMeaning } from '../canonical/read-provider-error-body.ts'
import { type RelayError, type RelayErrorCode, relayError } from '../canonical/relay-error.ts'
import { confidentialTo, mappedStatusOf } from '../views/channel-view.ts'
import type { AttemptEnd, AttemptError } from './attempt-end-types.ts'
import { accountCodeIn, accountErrorOf } from './detect-provider-account-error.ts'
import { CALLER_GONE, type Exchange, errorEvent, sendError, sendJson } from './http-exchange.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import { ANSWER_BYTES_MAX } from './upstream-attempt.ts'
import { endStream } from './write-streamed-response.ts'

const MIB = 1024 * 1024

/** The answer to a call, or to a request for a session, that failed before it began. */
export type CallErrorAnswer = {
  readonly reason: 'client-gone' | 'no-channel' | 'not-sent'
  readonly errorCode: string
  readonly status: number
  readonly retryAfterMs: number
} & (
  | { readonly error: RelayError }
  /** The provider's error, from which confidential texts have been removed. */
  | { readonly body: object }
)

/** The error code that the API caller gets for each error of an attempt. */
export const ERROR_CODE_OF: Record<AttemptError, RelayErrorCode> = {
  status: 'upstream_error',
  'error-event': 'upstream_error',
  connect: 'upstream_unreachable',
  format: 'upstream_format',
  'no-image': 'upstream_no_image',
  'no-result': 'upstream_format',
  blocked: 'image_blocked',
  'model-fault': 'upstream_error',
  timeout: 'upstream_timeout',
  cut: 'upstream_incomplete',
  'too-large': 'upstream_format',
  draining: 'draining',
  // A placeholder. The actual reason is stored in the running call.
  revoked: 'user_disabled',
  screened: 'sensitive_answer',
  'balance-spent': 'balance_spent',
  'store-unavailable': 'store_unavailable',
  'over-limit': 'output_limit_ignored',
  'caller-gone': 'upstream_incomplete',
}

/**
 * The recorded status of a call whose caller has disconnected. It is never sent. nginx logs the
 * same status.
 */
const CALLER_GONE_STATUS = 499

/**
 * The errors of calls for which no channel is usable. Any other error of a call that was not sent
 * concerns the request, its caller or the memory of the gateway.
 */
const NO_CHANNEL_ERRORS: ReadonlySet<RelayErrorCode> = new Set(['no_channel', 'channels_busy'])

/** The channel that failed, and the properties of the request that decide how this is shown. */
type FailedCandidate = Pick<Candidate, 'channel' | 'conversion' | 'upstreamModel'> & {
  readonly request: Pick<Candidate['request'], 'isStream'> & {
    readonly format: Pick<Candidate['request']['format'], 'errors' | 'answerBytesMax'>
  }
}

type AnswerContext = {
  readonly isHidden: boolean
  readonly isCallerGone: boolean
  /** The error for the caller if no channel was tried; otherwise null. */
  readonly unserved: RelayError | null
  readonly errors: ErrorFormat
  readonly call: string
}

/**
 * Returns the answer for the caller of a call that failed before any byte was sent. The answer is
 * the error of the last attempt, or `unserved` if no attempt was made. An error about the site's
 * account is replaced by a general one. If the caller has disconnected, the answer is only
 * recorded.
 */
export function callErrorAnswer(
  candidate: FailedCandidate | null,
  end: Extract<AttemptEnd, { readonly kind: 'failed' }> | null,
  { isHidden, isCallerGone, unserved, errors, call }: AnswerContext,
): CallErrorAnswer {
  const isUnserved = unserved === null || NO_CHANNEL_ERRORS.has(unserved.code)
  const reason = isCallerGone ? 'client-gone' : isUnserved ? 'no-channel' : 'not-sent'
  if (isCallerGone || end === null || candidate === null) {
    const error = unserved ?? CALLER_GONE
    const status = isCallerGone ? CALLER_GONE_STATUS : RELAY_ERRORS[error.code].status
    const errorCode = isCallerGone ? 'client_gone' : error.code
    return { reason, errorCode, status, retryAfterMs: 0, error }
  }
  const { error: cause, status, retryAfterMs } = end
  if (cause !== 'status' && cause !== 'error-event') {
    const error = errorOfAttempt(candidate, cause, retryAfterMs > 0 ? { retryAfter: 1 } : {})
    const { status: shownStatus } = RELAY_ERRORS[error.code]
    return { reason, errorCode: error.code, status: shownStatus, retryAfterMs, error }
  }
  const mapped = mappedStatusOf(candidate.channel, end)
  // NOTE: a provider's 401 rejects the site's key and is not forwarded. Otherwise, callers would
  // believe that their own keys are wrong.
  const isAccounts = accountErrorOf(end) !== null || accountCodeIn(end.body) !== null
  if (mapped === null && isAccounts) {
    const error = relayError('upstream_account')
    const { status: shownStatus } = RELAY_ERRORS.upstream_account
    return { reason, errorCode: error.code, status: shownStatus, retryAfterMs: 0, error }
  }
  const isErrorStatus = status !== null && status >= 400 && status <= 599
  const errorStatus = isErrorStatus ? status : isHidden ? 502 : statusOfErrorEvent(end.body, errors)
  const shownStatus = mapped ?? errorStatus
  const rendering = { isHidden, errors, call, hasGatewayStatus: !isErrorStatus }
  const body = providerErrorBody(candidate, end.body, errorStatus, rendering)
  return { reason, errorCode: `upstream_${cause}`, status: shownStatus, retryAfterMs, body }
}

/**
 * Returns the status for an error in an answer, or at the start of a stream, with a success status.
 * Clients decide by the status whether and when to retry. Any other error gets 502, because an
 * error body for the success status would tell the client that its request is invalid.
 */
function statusOfErrorEvent(error: Buffer, { overloadedStatus = 503 }: ErrorFormat): number {
  switch (providerErrorMeaning(error, 502)) {
    case 'context-length':
      return 400
    case 'rate-limit':
      return 429
    case 'overloaded':
      return overloadedStatus
    case 'timeout':
      return 504
    default:
      return 502
  }
}

/** Returns the error for the caller of a call whose last attempt ended with `cause`. */
export function errorOfAttempt(
  { request: { format, isStream } }: Pick<FailedCandidate, 'request'>,
  cause: AttemptError,
  params: { readonly retryAfter?: number } = {},
): RelayError {
  // The error `upstream_too_large` states the maximum size of a plain answer. Streams have other
  // limits, for their events, so they get a general error.
  if (cause !== 'too-large' || isStream) return relayError(ERROR_CODE_OF[cause], params)
  const { answerBytesMax = ANSWER_BYTES_MAX } = format
  return relayError('upstream_too_large', { subject: `${answerBytesMax / MIB}` })
}

type ErrorRendering = Pick<AnswerContext, 'isHidden' | 'errors' | 'call'> & {
  /** True if the provider sent no error status, so that `status` is the gateway's. */
  readonly hasGatewayStatus: boolean
}

/** Renders a provider's error in the caller's format, without confidential texts. */
export function providerErrorBody(
  candidate: FailedCandidate,
  error: Buffer,
  status: number,
  { isHidden, errors, call, hasGatewayStatus }: ErrorRendering,
): object {
  const confidential = confidentialOf(candidate)
  const isOwnFormat = hasOwnErrors(candidate, errors)
  const options = { isHidden, confidential, isOwnFormat, hasGatewayStatus }
  return errors.providerErrorBody(error, status, options, call)
}

/**
 * Reports whether the provider's errors have the format that the caller expects. Such errors are
 * forwarded in the provider's words, unless the site hides providers' errors. The format that a
 * caller expects for errors may differ from the format of its request.
 */
const hasOwnErrors = ({ conversion, request }: FailedCandidate, errors: ErrorFormat): boolean =>
  conversion === null && request.format.errors === errors

/**
 * Lists the texts that are removed from a provider's error before a caller sees it, such as the
 * provider's name for the model.
 */
export const confidentialOf = ({
  channel,
  upstreamModel,
}: Pick<Candidate, 'channel' | 'upstreamModel'>): readonly string[] =>
  upstreamModel === null ? confidentialTo(channel) : [...confidentialTo(channel), upstreamModel]

/** Sends an error as a response, or as an event if the response has begun as a stream. */
export function answerError(exchange: Exchange, error: RelayError): void {
  const { response } = exchange
  if (response.destroyed || response.writableEnded) return
  if (response.headersSent) endStream(exchange, errorEvent(exchange, error))
  else sendError(exchange, error)
}

/** Sends the answer to a failed call, as a response or as an event of a stream that has begun. */
export function sendCallError(exchange: Exchange, failure: CallErrorAnswer): void {
  const { response } = exchange
  if ('error' in failure) return answerError(exchange, failure.error)
  if (response.destroyed || response.writableEnded) return
  // The response has already begun as a stream with ping comments, so the error is sent as a stream
  // event.
  if (response.headersSent) {
    endStream(exchange, exchange.errors.errorEvent(failure.body, exchange.sent))
    return
  }
  sendJson(exchange, failure.status, failure.body, retryHeaders(failure.retryAfterMs))
}

/**
 * Returns the headers that say when to retry, or none if there is no delay. `Retry-After` is in
 * whole seconds. If seconds are not exact, `Retry-After-Ms` is added, which some clients read.
 */
export function retryHeaders(delayMs: number): string[] {
  if (delayMs <= 0) return []
  const seconds = ['Retry-After', `${Math.ceil(delayMs / 1_000)}`]
  return delayMs % 1_000 === 0 ? seconds : [...seconds, 'Retry-After-Ms', `${Math.ceil(delayMs)}`]
}
