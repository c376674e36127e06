import { eventData } from '#relay/canonical/sse-scanner.ts'
import type { FormatName } from '#relay/dialects/wire-format.ts'
import { MESSAGES_CONVERSION } from './anthropic-messages/messages-conversion.ts'
import type { CanonicalEvent, StreamReader, StreamWriter } from './canonical-answer.ts'
import type { JsonObject } from './canonical-request.ts'
import type { ConversionTarget, FormatConversion } from './format-conversion.ts'
import { CHAT_CONVERSION } from './openai-chat/chat-conversion.ts'

const FORMATS: Readonly<Record<FormatName, FormatConversion>> = {
  chat: CHAT_CONVERSION,
  messages: MESSAGES_CONVERSION,
}

/** The conversion of one call to the provider's format, and of its answer back. */
export type CallConversion = {
  /** The request in the provider's format. */
  readonly body: Buffer
  /** The members of the request that the provider's format can't express. */
  readonly losses: readonly string[]
  /** Returns the answer in the caller's format, or null if the provider's answer is not JSON. */
  readonly convertAnswer: (body: Buffer, id: string) => Buffer | null
  readonly createStream: (id: string) => ConvertedStream
}

/**
 * Converts a request that was checked before. Throws `ConversionError` if the provider's format
 * can't express it.
 */
export function convertCall(
  from: FormatName,
  requestBody: Buffer,
  target: ConversionTarget,
): CallConversion {
  const parsed = JSON.parse(requestBody.toString('utf8')) as JsonObject
  const { value: request, losses } = FORMATS[from].readRequest(parsed)
  const provider = FORMATS[target.format]
  const written = provider.writeRequest({ ...request, model: target.model }, target)
  const writers = FORMATS[from].writersFor(parsed)
  return {
    body: Buffer.from(JSON.stringify(written.value)),
    losses: [...losses, ...written.losses],
    convertAnswer: (body, id) => {
      const answer = parsedObject(body.toString('utf8'))
      if (answer === null) return null
      const canonical = { ...provider.readAnswer(answer), model: request.model }
      return Buffer.from(JSON.stringify(writers.writeAnswer(canonical, id)))
    },
    createStream: (id) =>
      new ConvertedStream(
        provider.createStreamReader(),
        writers.createStreamWriter(id),
        request.model,
      ),
  }
}

const EVENT_NAME = /^event: ?(.*)$/m

/** Converts the events of one stream to the caller's format. */
export class ConvertedStream {
  private readonly reader: StreamReader
  private readonly writer: StreamWriter
  private readonly model: string

  /** `model` is the caller's name for the model. */
  constructor(reader: StreamReader, writer: StreamWriter, model: string) {
    this.reader = reader
    this.writer = writer
    this.model = model
  }

  /** Converts complete events. The result is empty if they have no meaning in the other format. */
  convert(events: Buffer): Buffer {
    let text = ''
    for (const event of events.toString('utf8').split(/\r\n\r\n|\n\n|\r\r/)) {
      const data = parsedObject(eventData(event) ?? '')
      if (data === null) continue
      text += this.write(this.reader.read(data, EVENT_NAME.exec(event)?.[1]?.trim() ?? ''))
    }
    return Buffer.from(text)
  }

  /** Converts the last events of the stream and ends it. */
  end(events: Buffer): Buffer {
    const last = this.convert(events)
    return Buffer.concat([last, Buffer.from(this.write(this.reader.finish()))])
  }

  private write(events: readonly CanonicalEvent[]): string {
    return events
      .map((event) => (event.kind === 'start' ? { ...event, model: this.model } : event))
      .map((event) => this.writer.write(event))
      .join('')
  }
}

function parsedObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as JsonObject) : null
  } catch {
    return null
  }
}
