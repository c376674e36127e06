import type { TaskKind } from '#domain/task/events.ts'
import { type Denial, deny } from '../canonical/denial.ts'
import { DENIAL_ANSWERS } from '../canonical/denial-answers.ts'
import { denialBody, providerErrorBody, redact } from '../dialects/openai-chat/error-body.ts'
import { accountFaultOf } from '../pipeline/account-fault.ts'
import { type Exchange, sendJson } from '../pipeline/exchange.ts'
import { DENIAL_OF } from '../pipeline/failure.ts'
import { confidentialTo } from '../views/channel-view.ts'
import type { TaskDeps } from './task-deps.ts'
import type { Last } from './try-channels.ts'

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

/** Why no provider took a task: in its own words (`refusal`), or in ours. */
export type TaskFailure = { readonly status: number } & (
  | { readonly refusal: { readonly code: number | null; readonly words: string } }
  | { readonly refusal: null; readonly denial: Denial }
)

export function failureOf(
  { views }: Pick<TaskDeps, 'views'>,
  last: Last | null,
  model: string,
): TaskFailure {
  if (last === null) return denied(deny('no_channel', { subject: model, retryAfterSeconds: 10 }))
  const { end, taken, channel } = last
  const isHidden = views.options.options.isUpstreamErrorHidden
  const known = confidentialTo(channel)
  if (taken !== null && !taken.isTaken) {
    const words = isHidden ? null : taken.words
    const { en } = DENIAL_ANSWERS.upstream_error
    const refusal = { code: taken.code, words: words === null ? en : redact(words, known) }
    return { status: 200, refusal }
  }
  if (end.kind !== 'failed') return denied(deny('upstream_format'))
  if (end.error !== 'status') return denied(deny(DENIAL_OF[end.error]))
  if (accountFaultOf(end) !== null) return denied(deny('upstream_account'))
  const status = end.status ?? 502
  if (status < 400 || status >= 500) return denied(deny('upstream_error'))
  const { message } = providerErrorBody(end.body, status, { isHidden, known }).error
  return { status, refusal: { code: null, words: message } }
}

const denied = (denial: Denial): TaskFailure => ({
  status: DENIAL_ANSWERS[denial.denied].status,
  refusal: null,
  denial,
})
