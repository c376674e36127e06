import type { TaskKind } from '#domain/task/events.ts'
import type { Denial } from '#relay/canonical/denial.ts'
import { denialBody } from '#relay/dialects/openai-chat/error-body.ts'
import { type Exchange, sendJson } from '#relay/pipeline/exchange.ts'

/** What drawing clients know as an error of the request. */
const REQUEST_ERROR = 4
const QUOTA_ERROR = 30

/** The gateway's refusal, readable for clients of drawings, of music and of chats alike. */
export function sendTaskDenial(exchange: Exchange, kind: TaskKind, denial: Denial): void {
  const { status, body } = denialBody(denial, exchange.language)
  const { retryAfterSeconds, denied, subject } = denial
  const headers = [
    ...(retryAfterSeconds === null ? [] : ['Retry-After', `${retryAfterSeconds}`]),
    ...(denied === 'method_not_allowed' ? ['Allow', subject] : []),
  ]
  const { message, type } = body.error
  const shown =
    kind === 'drawing'
      ? { code: status === 402 ? QUOTA_ERROR : REQUEST_ERROR, description: message, type }
      : { code: denied, message, data: null }
  sendJson(exchange, status, { ...shown, ...body }, headers)
}

/** A provider's refusal in its own format. */
export function sendRefusal(
  exchange: Exchange,
  kind: TaskKind,
  { code, words }: { readonly code: number | null; readonly words: string },
): void {
  if (kind === 'drawing') {
    const answer = { code: code ?? REQUEST_ERROR, description: words, properties: {}, result: '' }
    return sendJson(exchange, 200, answer)
  }
  sendJson(exchange, 400, { code: 'task_refused', message: words, data: null })
}

export function sendTaken(
  exchange: Exchange,
  kind: TaskKind,
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
