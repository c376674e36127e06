import type { CanonicalAnswer, CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import { parsedObject } from '#relay/canonical/json-values.ts'
import {
  type OriginalToolNames,
  withOriginalToolName,
  withOriginalToolNames,
} from '#relay/conversion/adapt-tool-names.ts'
import { joinEventsToAnswer } from '#relay/conversion/join-canonical-events.ts'
import { type AnswerOptions, writeAnswer } from '#relay/conversion/openai-chat/write-answer.ts'
import { createStreamWriter } from '#relay/conversion/openai-chat/write-stream.ts'
import { dataEvent } from '#relay/conversion/write-server-sent-events.ts'
import type {
  AnswerDecoder,
  DecodedAnswer,
  DecoderFault,
} from '../provider-access-and-decoder-types.ts'
import type { ProviderError, Translation } from './chat-translation.ts'
import { EventSplitter } from './split-server-sent-events.ts'

/** The values that are the same for every answer of a call. */
type DecoderOptions = Omit<AnswerOptions, 'hasStreamUsage'> & {
  /** The id that is used if the provider sent none. */
  readonly id: string
  /** The provider's name for the model. It is used for answers that do not name the model. */
  readonly model: string
  readonly originalNames: OriginalToolNames
}

/** The maximum length in bytes of a complete answer that is translated. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const EVENT_STREAM = 'text/event-stream'

/** Returns the decoder that converts the answers of one call to OpenAI's chat format. */
export const answerDecoder = (
  translation: Translation,
  options: DecoderOptions,
): AnswerDecoder => ({
  mediaType: EVENT_STREAM,
  createStream: () => new TranslatedStream(translation, options),
  readAnswer: (body, status) => readAnswer(translation, options, body, status),
  errorBody: (body, _headers, status) => {
    const error = errorIn(translation, body, status)
    return error === null ? body : Buffer.from(JSON.stringify(errorObject(error)))
  },
})

const errorObject = ({ type, message }: Pick<ProviderError, 'type' | 'message'>) => ({
  error: { message, type, param: null, code: type },
})

/**
 * Decodes a complete answer. If the provider can only stream, the body consists of the stream's
 * events.
 */
function readAnswer(
  translation: Translation,
  options: DecoderOptions,
  body: Buffer,
  status: number,
): DecodedAnswer {
  if (body.length > ANSWER_BYTES_MAX) return { kind: 'failed', error: 'too-large' }
  try {
    const object = parsedObject(body.toString('utf8'))
    if (object === null) return readCollected(translation, options, body)
    const error = translation.readError(object, status)
    if (error !== null) return { kind: 'refused', status: error.status }
    const answer = translation.readAnswer(object)
    return answer === null ? { kind: 'failed', error: 'format' } : written(answer, options)
  } catch {
    // The answer can't be translated. For example, a tool call's arguments may be nested too deeply
    // to be serialized again.
    return { kind: 'failed', error: 'format' }
  }
}

function readCollected(
  translation: Translation,
  options: DecoderOptions,
  body: Buffer,
): DecodedAnswer {
  const events = eventsIn(translation, body)
  if (events.length === 0) return { kind: 'failed', error: 'format' }
  const error = events.find((event) => event.kind === 'error')
  if (error !== undefined) return { kind: 'refused', status: error.status ?? 502 }
  if (!events.some(({ kind }) => kind === 'end')) return { kind: 'failed', error: 'cut' }
  return written(joinEventsToAnswer(events), options)
}

function eventsIn(translation: Translation, body: Buffer): readonly CanonicalEvent[] {
  const splitter = new EventSplitter()
  const read = translation.createEventReader()
  const events = [...splitter.push(body), ...splitter.finish()]
  return splitter.isTooLarge ? [] : events.flatMap((event) => read(event))
}

function errorIn(translation: Translation, body: Buffer, status: number): ProviderError | null {
  const object = parsedObject(body.toString('utf8'))
  if (object !== null) return translation.readError(object, status)
  const event = eventsIn(translation, body).find(({ kind }) => kind === 'error')
  return event?.kind === 'error' ? { ...event, status: event.status ?? 502 } : null
}

const written = (answer: CanonicalAnswer, options: DecoderOptions): DecodedAnswer => {
  const { id, model, originalNames } = options
  const choices = withOriginalToolNames(answer.choices, originalNames)
  const named = { ...answer, choices, id: answer.id || id, model: answer.model || model }
  const body = writeAnswer(named, { ...options, hasStreamUsage: true })
  return { kind: 'answer', body: Buffer.from(JSON.stringify(body)) }
}

/** Converts the stream of a provider to chunks in OpenAI's chat format. */
class TranslatedStream {
  fault: DecoderFault | null = null
  errorStatus: number | null = null
  private readonly splitter = new EventSplitter()
  private readonly read
  private readonly writer
  private readonly options: DecoderOptions
  private hasBegun = false
  private isEnded = false

  constructor(translation: Translation, options: DecoderOptions) {
    this.read = translation.createEventReader()
    this.writer = createStreamWriter({ ...options, hasStreamUsage: true })
    this.options = options
  }

  push(chunk: Buffer): Buffer {
    const events = this.splitter.push(chunk).flatMap((event) => this.read(event))
    let text = ''
    for (const event of events) text += this.write(event)
    // A writer that has given up writes nothing more, so the rest of the stream is not read.
    if (this.splitter.isTooLarge || this.writer.hasGivenUp) this.fault = 'too-large'
    return Buffer.from(text)
  }

  private write(event: CanonicalEvent): string {
    if (this.isEnded) return ''
    if (event.kind === 'error') {
      this.isEnded = true
      this.errorStatus = event.status ?? null
      // A provider that reports a usage charges for it even if the answer ends with an error.
      return this.writer.usageChunk() + dataEvent(errorObject(event))
    }
    const { id, model } = this.options
    if (event.kind === 'start') {
      if (this.hasBegun) return ''
      this.hasBegun = true
      const named = { ...event, id: event.id || id, model: event.model || model }
      // These providers send no event when a part begins, and may be silent for minutes before the
      // first text. Therefore, the part is announced at once.
      return this.writer.write(named) + this.writer.write({ kind: 'part-begun', choice: 0 })
    }
    const begun = this.hasBegun ? '' : this.write({ kind: 'start', id, model })
    this.isEnded = event.kind === 'end'
    return begun + this.writer.write(withOriginalToolName(event, this.options.originalNames))
  }
}
