import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  CanonicalAnswer,
  CanonicalEvent,
  CanonicalUsage,
  StopReason,
  StreamWriter,
} from '../../canonical/canonical-answer.ts'
import { writeUsage } from '../openai-chat/usage.ts'
import type { AnswerOptions } from '../openai-chat/write-answer.ts'
import { DONE_EVENT, dataEvent } from '../write-server-sent-events.ts'

const finishReasonOf = (stop: StopReason): string => {
  if (stop === 'length' || stop === 'interrupted') return 'length'
  return stop === 'refusal' ? 'content_filter' : 'stop'
}

const choiceOf = (text: string, reason: string | null): JsonObject => ({
  text,
  index: 0,
  logprobs: null,
  finish_reason: reason,
})

/**
 * Writes the first choice of a complete answer. Only texts and refusals are written, because the
 * format has no members for other parts.
 */
export function writeAnswer(
  { id, model, choices: [choice], usage }: CanonicalAnswer,
  { createdAt }: Pick<AnswerOptions, 'createdAt'>,
): JsonObject {
  const texts = (choice?.parts ?? []).map((part) =>
    part.kind === 'text' || part.kind === 'refusal' ? part.text : '',
  )
  return {
    id,
    object: 'text_completion',
    created: createdAt,
    model,
    choices: [choiceOf(texts.join(''), finishReasonOf(choice?.stop ?? 'end'))],
    ...(usage === null ? {} : { usage: writeUsage(usage) }),
  }
}

/**
 * Writes the chunks of the first choice of a streamed answer. An error ends the stream without
 * `[DONE]`.
 */
export class CompletionWriter implements StreamWriter {
  private readonly options: Pick<AnswerOptions, 'createdAt' | 'hasStreamUsage'>
  private id: string
  private model = ''
  private usage: CanonicalUsage | null = null
  private isStopped = false
  private isEnded = false

  /** `fallbackId` is used if the provider sent no id. */
  constructor(fallbackId: string, options: Pick<AnswerOptions, 'createdAt' | 'hasStreamUsage'>) {
    this.id = fallbackId
    this.options = options
  }

  write(event: CanonicalEvent): string {
    if (this.isEnded || ('choice' in event && event.choice !== 0)) return ''
    switch (event.kind) {
      case 'start':
        if (event.id !== '') this.id = event.id
        this.model = event.model
        return ''
      case 'text':
      case 'refusal':
        return this.isStopped ? '' : this.chunk([choiceOf(event.text, null)])
      case 'stop':
        return this.stop(event.stop)
      case 'usage':
        this.usage = event.usage
        return ''
      case 'error': {
        this.isEnded = true
        const { message, type } = event
        return dataEvent({ error: { message, type, param: null, code: null } })
      }
      case 'end':
        return this.end()
      default:
        return ''
    }
  }

  private stop(stop: StopReason): string {
    if (this.isStopped) return ''
    this.isStopped = true
    return this.chunk([choiceOf('', finishReasonOf(stop))])
  }

  private end(): string {
    const stop = this.stop('end')
    const { usage } = this
    this.isEnded = true
    const hasUsage = this.options.hasStreamUsage && usage !== null
    return stop + (hasUsage ? this.chunk([], writeUsage(usage)) : '') + DONE_EVENT
  }

  private chunk(choices: readonly JsonObject[], usage: JsonObject | null = null): string {
    return dataEvent({
      id: this.id,
      object: 'text_completion',
      created: this.options.createdAt,
      choices,
      model: this.model,
      ...(this.options.hasStreamUsage ? { usage } : {}),
    })
  }
}
