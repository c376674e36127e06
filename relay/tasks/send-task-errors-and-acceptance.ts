import type { TaskKind } from '#domain/tasks/events.ts'
import { redact } from '../canonical/redact-provider-texts.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { RELAY_ERRORS } from '../canonical/relay-error-catalogue.ts'
import { errorBody, providerErrorBody } from '../dialects/openai-chat/error-body.ts'
import { accountErrorOf } from '../pipeline/detect-provider-account-error.ts'
import { ERROR_CODE_OF } from '../pipeline/failed-call-answer.ts'
import { type Exchange, sendJson, traceError } from '../pipeline/http-exchange.ts'
import { confidentialTo } from '../views/channel-view.ts'
import type { LastAttempt } from './send-task-to-channels-in-order.ts'
import type { TaskDeps } from './task-deps.ts'
import { sendVendorError, sendVideoError } from './videos/render-video.ts'

/** The result code that drawing clients understand as an invalid request. */
const REQUEST_ERROR = 4
const QUOTA_ERROR = 30

/**
 * Sends an error of the gateway to the caller. For drawings and music, its format can be read by
 * drawing clients, music clients and chat clients.
 */
export function sendTaskError(exchange: Exchange, kind: TaskKind, error: RelayError): void {
  if (kind === 'video') return sendVideoError(exchange, error)
  const { status, body } = errorBody(error, exchange.language)
  const { retryAfter, code, params } = error
  const headers = [
    ...(retryAfter === undefined ? [] : ['Retry-After', `${retryAfter}`]),
    ...(code === 'method_not_allowed' ? ['Allow', params.subject ?? ''] : []),
  ]
  const { message, type } = body.error
  const shownWords =
    kind === 'drawing'
      ? { code: status === 402 ? QUOTA_ERROR : REQUEST_ERROR, description: message, type }
      : { code: code, message, data: null }
  traceError(exchange, error, status)
  sendJson(exchange, status, { ...shownWords, ...body }, headers)
}

/** Sends a provider's error in the format that drawing or music clients expect. */
export function sendProviderError(
  exchange: Exchange,
  kind: TaskKind,
  { code, words }: { readonly code: number | null; readonly words: string },
): void {
  if (kind === 'video') return sendVendorError(exchange, words, 400)
  if (kind === 'drawing') {
    const answer = { code: code ?? REQUEST_ERROR, description: words, properties: {}, result: '' }
    return sendJson(exchange, 200, answer)
  }
  sendJson(exchange, 400, { code: 'task_refused', message: words, data: null })
}

export function sendAccepted(
  exchange: Exchange,
  kind: Exclude<TaskKind, 'video'>,
  answer: {
    readonly task: string
    readonly code: number
    readonly description: string | null
    readonly properties: object
  },
): void {
  const { task, code, description, properties } = answer
  if (kind === 'music') {
    return sendJson(exchange, 200, { code: 'success', message: description ?? '', data: task })
  }
  sendJson(exchange, 200, { code, description: description ?? '', properties, result: task })
}

/**
 * The error for the caller of a task that no provider accepted. It is either the provider's own
 * error (`providerError`) or an error of the gateway.
 */
export type TaskErrorAnswer = { readonly status: number } & (
  | { readonly providerError: { readonly code: number | null; readonly words: string } }
  | { readonly providerError: null; readonly error: RelayError }
)

export function taskErrorAnswer(
  { views }: Pick<TaskDeps, 'views'>,
  last: LastAttempt | null,
  model: string,
): TaskErrorAnswer {
  if (last === null) return failed(relayError('no_channel', { subject: model, retryAfter: 10 }))
  const { end, answer, channel } = last
  const isHidden = views.options.options.isUpstreamErrorHidden
  const confidential = confidentialTo(channel)
  if (answer !== null && !answer.isAccepted) {
    const words = isHidden ? null : answer.words
    const { en } = RELAY_ERRORS.upstream_error
    const providerError = {
      code: answer.code,
      words: words === null ? en : redact(words, confidential),
    }
    return { status: 200, providerError }
  }
  if (end.kind !== 'failed') return failed(relayError('upstream_format'))
  if (end.error !== 'status') return failed(relayError(ERROR_CODE_OF[end.error]))
  if (accountErrorOf(end) !== null) return failed(relayError('upstream_account'))
  const status = end.status ?? 502
  if (status < 400 || status >= 500) return failed(relayError('upstream_error'))
  const { message } = providerErrorBody(end.body, status, { isHidden, confidential }).error
  return { status, providerError: { code: null, words: message } }
}

const failed = (error: RelayError): TaskErrorAnswer => ({
  status: RELAY_ERRORS[error.code].status,
  providerError: null,
  error,
})
