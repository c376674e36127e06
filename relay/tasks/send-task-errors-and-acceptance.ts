import type { TaskKind } from '#domain/tasks/events.ts'
import { redact } from '../canonical/redact-provider-texts.ts'
import {
  isRelayError,
  type RelayError,
  type RelayErrorCode,
  relayError,
  withStatus,
} from '../canonical/relay-error.ts'
import { httpStatusOf, RELAY_ERRORS } from '../canonical/relay-error-catalogue.ts'
import { errorBody, providerErrorBody } from '../dialects/openai-chat/error-format.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import { accountErrorOf } from '../pipeline/detect-provider-account-error.ts'
import { ERROR_CODE_OF, retryHeaders } from '../pipeline/failed-call-answer.ts'
import {
  type EndAnswer,
  type Exchange,
  headersOfError,
  sendJson,
  traceError,
} from '../pipeline/http-exchange.ts'
import { confidentialTo, mappedStatusOf } from '../views/channel-view.ts'
import type { SubmitAnswer } from './read-provider-task-answers.ts'
import type { LastAttempt } from './send-task-to-channels-in-order.ts'
import type { TaskDeps } from './task-deps.ts'
import { sendVendorError, sendVideoError } from './videos/send-video-errors.ts'

/** The result code that drawing clients understand as an invalid request. */
const REQUEST_ERROR = 4
const QUOTA_ERROR = 30
/** The result code that drawing clients understand as a full queue, after which they retry. */
const QUEUE_FULL = 23
const LIMIT_STATUS = 429

/**
 * Sends an error of the gateway to the caller. For drawings and music, the error has a format that
 * drawing clients, music clients and chat clients can read. `end` writes the body and ends the
 * response.
 */
export function sendTaskError(
  exchange: Exchange,
  kind: TaskKind,
  error: RelayError,
  end?: EndAnswer,
): void {
  if (kind === 'video') return sendVideoError(exchange, error, end)
  const { status, body } = errorBody(error, exchange.language)
  const { code, message, type } = body.error
  const shownWords =
    kind === 'drawing'
      ? { code: status === 402 ? QUOTA_ERROR : REQUEST_ERROR, description: message, type }
      : { code, message, data: null }
  traceError(exchange, error, status)
  sendJson(exchange, status, { ...shownWords, ...body }, headersOfError(error), end)
}

/** A provider's error, as the caller gets it. */
export type ShownProviderError = {
  /** The provider's result code for drawings; null if its response has none. */
  readonly code: number | null
  readonly words: string
  /**
   * True if the provider or the site's account at the provider has reached a limit. A retry may
   * then help.
   */
  readonly isLimit: boolean
  /** The delay before a retry, in milliseconds; 0 if the provider requests none. */
  readonly retryAfterMs: number
  /** The HTTP status that the channel's mapping requires; null for the usual one. */
  readonly mappedStatus: number | null
}

/**
 * Sends a provider's error in the format that drawing, music or video clients expect. Drawing
 * clients read the result code in the body, so they get the HTTP status 200, except for a limit
 * that the provider reported without a result code and for a mapped status.
 */
export function sendProviderError(
  exchange: Exchange,
  kind: TaskKind,
  { code, words, isLimit, retryAfterMs, mappedStatus }: ShownProviderError,
): void {
  const status = mappedStatus ?? (isLimit ? LIMIT_STATUS : 400)
  const headers = retryHeaders(retryAfterMs)
  if (kind === 'video') return sendVendorError(exchange, words, status, headers)
  if (kind === 'drawing') {
    const shownCode = code ?? (isLimit ? QUEUE_FULL : REQUEST_ERROR)
    const answer = { code: shownCode, description: words, properties: {}, result: '' }
    const isShown = mappedStatus !== null || (isLimit && code === null)
    return sendJson(exchange, isShown ? status : 200, answer, headers)
  }
  sendJson(exchange, status, { code: 'task_refused', message: words, data: null }, headers)
}

export function sendAccepted(
  exchange: Exchange,
  kind: Exclude<TaskKind, 'video'>,
  answer: {
    readonly task: string
    readonly code: number
    readonly description: string | null
    readonly properties: object
    /** The addresses of uploaded pictures, which are the result in place of the task's id. */
    readonly uploads?: readonly string[]
  },
): void {
  const { task, code, description, properties, uploads } = answer
  if (kind === 'music') {
    return sendJson(exchange, 200, { code: 'success', message: description ?? '', data: task })
  }
  sendJson(exchange, 200, {
    code,
    description: description ?? '',
    properties,
    result: uploads ?? task,
  })
}

/**
 * The error for the caller of a task that no provider accepted. It is either the provider's own
 * error (`providerError`) or an error of the gateway.
 */
export type TaskErrorAnswer = { readonly status: number } & (
  | { readonly providerError: ShownProviderError }
  | { readonly providerError: null; readonly error: RelayError }
)

/** Returns the error for the last attempt, or the error why no channel was tried. */
export function taskErrorAnswer(
  { views }: Pick<TaskDeps, 'views'>,
  last: LastAttempt | RelayError,
): TaskErrorAnswer {
  if (isRelayError(last)) return failed(last)
  const { end, answer, channel } = last
  const refusal = answer?.isAccepted === false ? answer : null
  const mappedStatus = mappedStatusOf(channel, end)
  // The mapping changes only the status. The text about the account stays hidden.
  const failedAs = (code: RelayErrorCode) => failed(withStatus(relayError(code), mappedStatus))
  if (isAccounts(end, refusal)) return failedAs('upstream_account')
  const isHidden = views.options.options.isUpstreamErrorHidden
  const confidential = confidentialTo(channel)
  const retryAfterMs = end.kind === 'failed' ? end.retryAfterMs : 0
  const isLimit = end.kind === 'failed' && end.status === LIMIT_STATUS
  if (refusal !== null && refusal.cause !== 'provider') {
    const words = isHidden ? null : refusal.words
    const { en } = RELAY_ERRORS.upstream_error
    const shown = words === null ? en : redact(words, confidential)
    const providerError = { code: refusal.code, words: shown, isLimit, retryAfterMs, mappedStatus }
    return { status: mappedStatus ?? (isLimit ? LIMIT_STATUS : 200), providerError }
  }
  if (end.kind !== 'failed') return failed(relayError('upstream_format'))
  if (end.error !== 'status') return failed(relayError(ERROR_CODE_OF[end.error]))
  const status = end.status ?? 502
  if (status < 400 || status >= 500) return failedAs('upstream_error')
  const { message: words } = providerErrorBody(end.body, status, { isHidden, confidential }).error
  const providerError = { code: null, words, isLimit, retryAfterMs, mappedStatus }
  return { status: mappedStatus ?? status, providerError }
}

/**
 * Reports whether the provider refused the site's key or account, or the account may not use the
 * model. The caller does not get the text of such a refusal, because the text would reveal the
 * state of the account and look like a fault of the request.
 */
const isAccounts = (end: AttemptEnd, refusal: Refusal | null): boolean =>
  refusal?.cause === 'model' || (end.kind === 'failed' && accountErrorOf(end) !== null)

type Refusal = Extract<SubmitAnswer, { readonly isAccepted: false }>

const failed = (error: RelayError): TaskErrorAnswer => ({
  status: httpStatusOf(error),
  providerError: null,
  error,
})
