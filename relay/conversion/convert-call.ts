import { type JsonObject, parsedObject } from '#relay/canonical/json-values.ts'
import { EVENT_BOUNDARY, eventData } from '#relay/canonical/sse-scanner.ts'
import type { ConvertedFormatName, PathParameters } from '#relay/dialects/wire-format.ts'
import {
  type AnswerError,
  type CanonicalAnswer,
  type CanonicalChoice,
  type CanonicalEvent,
  FailedAnswer,
  type StreamReader,
  type StreamWriter,
} from '../canonical/canonical-answer.ts'
import { readCallerRequest, SchemaSizeError } from '../canonical/canonical-request.ts'
import {
  adaptToolNames,
  type OriginalToolNames,
  withOriginalToolName,
  withOriginalToolNames,
} from './adapt-tool-names.ts'
import { MESSAGES_CONVERSION } from './anthropic-messages/messages-conversion.ts'
import type {
  AnswerWriters,
  CallerConversion,
  ConversionTarget,
  FormatConversion,
  ProviderFormatName,
} from './format-conversion.ts'
import { GEMINI_CONVERSION } from './gemini/gemini-conversion.ts'
import { checkArguments } from './limit-json-in-texts.ts'
import { callerPathsOfLosses } from './loss-paths-in-caller-format.ts'
import { LossesInAnswer } from './losses-in-answer.ts'
import { CHAT_CONVERSION } from './openai-chat/chat-conversion.ts'
import { COMPLETIONS_CONVERSION } from './openai-completions/completions-conversion.ts'
import { RESPONSES_CONVERSION } from './openai-responses/responses-conversion.ts'

const PROVIDERS: Readonly<Record<ProviderFormatName, FormatConversion>> = {
  chat: CHAT_CONVERSION,
  messages: MESSAGES_CONVERSION,
  responses: RESPONSES_CONVERSION,
  gemini: GEMINI_CONVERSION,
}
const CALLERS: Readonly<Record<ConvertedFormatName, CallerConversion>> = {
  ...PROVIDERS,
  completions: COMPLETIONS_CONVERSION,
}

/**
 * The request of one call in the provider's format, and the functions that convert the answer back
 * to the caller's format.
 */
export type CallConversion = {
  /** The request in the provider's format. */
  readonly body: Buffer
  /**
   * The paths, in the caller's format, of the members that the canonical form or the provider's
   * format can't express.
   */
  readonly losses: readonly string[]
  /**
   * The names of content in the latest answer that the caller's format can't express. The list
   * grows during a stream. All attempts that need the same conversion share the list.
   */
  readonly lossesInAnswer: Pick<LossesInAnswer, 'list'>
  /**
   * Returns the answer in the caller's format. Returns null if the answer is too large or is not a
   * JSON object, and an error if the model failed. Throws an exception if the answer can't be
   * converted for another reason. For example, a tool call's arguments may be nested too deeply to
   * be serialized again.
   */
  readonly convertAnswer: (body: Buffer, id: string) => Buffer | AnswerError | null
  readonly createStream: (id: string) => ConvertedStream
}

/** The facts about a call that its converted answer states. */
type StatedFacts = {
  /** True if the gateway stores the answer. Answers in the Responses format state this. */
  readonly isStored?: boolean
  /** The model that the answer names, if it is not the model of the request. */
  readonly model?: string
}

/**
 * Converts a request. `requestBody` must be a valid JSON object. Throws an `InvalidMemberError` if
 * a member of the request is invalid, and another `ConversionError` if the provider's format can't
 * express the request.
 */
export function convertCall(
  from: ConvertedFormatName,
  requestBody: Buffer,
  path: PathParameters,
  target: ConversionTarget,
  { isStored = false, model: answeredModel }: StatedFacts = {},
): CallConversion {
  const parsed = JSON.parse(requestBody.toString('utf8')) as JsonObject
  checkArguments(parsed)
  const caller = CALLERS[from]
  const { value: request, losses } = readCallerRequest(() => caller.readRequest(parsed, path))
  const provider = PROVIDERS[target.format]
  const { model, thinking = request.thinking } = target
  const { request: adapted, originalNames } = adaptToolNames(request, target.format)
  const written = withCallerPath(from, () =>
    provider.writeRequest({ ...adapted, model, thinking }, target, requestBody),
  )
  const writers = caller.writersFor(parsed, isStored)
  const lost = new LossesInAnswer(target.format, from)
  const names = { model: answeredModel ?? request.model, originalNames }
  return {
    body: Buffer.from(JSON.stringify(written.value)),
    losses: [...losses, ...callerPathsOfLosses(written.losses, from, request)],
    lossesInAnswer: lost,
    ...conversionOfAnswer(provider, writers, names, lost),
  }
}

/** Returns the result of `write`. A schema that is too large is named as in the caller's format. */
function withCallerPath<T>(from: ConvertedFormatName, write: () => T): T {
  try {
    return write()
  } catch (error) {
    if (!(error instanceof SchemaSizeError)) throw error
    const [path = error.param] = callerPathsOfLosses([error.param], from)
    throw new SchemaSizeError(path, error.message)
  }
}

/**
 * The names in an answer that replace those of the provider: the model's, and the caller's names of
 * tools.
 */
type CallerNames = { readonly model: string; readonly originalNames: OriginalToolNames }

/** The maximum length in bytes of a complete answer that is converted. */
export const CONVERTED_BYTES_MAX = 8 * 1024 * 1024

/**
 * Returns the functions that convert the answer. They must not refer to the request, because the
 * request would then stay in memory until the call ends.
 */
const conversionOfAnswer = (
  provider: FormatConversion,
  writers: AnswerWriters,
  names: CallerNames,
  lost: LossesInAnswer,
): Pick<CallConversion, 'convertAnswer' | 'createStream'> => ({
  convertAnswer: (body, id) => {
    if (body.length > CONVERTED_BYTES_MAX) return null
    try {
      const answer = parsedObject(body.toString('utf8'))
      if (answer === null) return null
      lost.clear()
      lost.read(answer)
      const canonical = withCallerNames(withChoice(provider.readAnswer(answer, id)), names)
      for (const { parts } of canonical.choices) for (const part of parts) lost.readPart(part)
      return Buffer.from(JSON.stringify(writers.writeAnswer(canonical, id)))
    } catch (error) {
      if (error instanceof FailedAnswer) return { type: error.type, message: error.message }
      throw error
    }
  },
  createStream: (id) => {
    lost.clear()
    const writer = writers.createStreamWriter(id)
    return new ConvertedStream(provider.createStreamReader(id), writer, names, lost)
  },
})

/** The choice of an answer without one, as a stream without content has it. */
const EMPTY_CHOICE: CanonicalChoice = { parts: [], stop: 'end', stopSequence: null, logprobs: null }

/** Adds a choice to an answer without one, because clients read the first choice unchecked. */
const withChoice = (answer: CanonicalAnswer): CanonicalAnswer =>
  answer.choices.length > 0 ? answer : { ...answer, choices: [EMPTY_CHOICE] }

const withCallerNames = (
  answer: CanonicalAnswer,
  { model, originalNames }: CallerNames,
): CanonicalAnswer => ({
  ...answer,
  model,
  choices: withOriginalToolNames(answer.choices, originalNames),
})

const EVENT_NAME = /^event: ?(.*)$/m

/**
 * The error for an answer that can't be converted. The provider charges for such an answer, so it
 * is treated like one that the model failed to complete.
 */
const UNCONVERTED: AnswerError = {
  type: 'upstream_format',
  message: 'The rest of the answer is nested too deeply to be converted.',
  isOfModel: true,
}

/**
 * Converts the events of one stream to the caller's format. Only `end` writes the end of the
 * stream. The answer is billed before `end` is called, so the caller can't see earlier that the
 * answer is complete.
 */
export class ConvertedStream {
  /**
   * The error with which the provider ended the stream. Null if there is none. `convert` and `end`
   * don't write the error.
   */
  error: AnswerError | null = null
  private hasEnd = false
  private readonly reader: StreamReader
  private readonly writer: StreamWriter
  private readonly names: CallerNames
  private readonly lost: LossesInAnswer | null

  constructor(
    reader: StreamReader,
    writer: StreamWriter,
    names: CallerNames,
    lost: LossesInAnswer | null = null,
  ) {
    this.reader = reader
    this.writer = writer
    this.names = names
    this.lost = lost
  }

  /** True once the rest of the answer can't be written: see `StreamWriter`. */
  get hasGivenUp(): boolean {
    return this.writer.hasGivenUp === true
  }

  /**
   * Converts complete events. The result is empty if nothing in the caller's format corresponds to
   * the events.
   */
  convert(events: Buffer): Buffer {
    let text = ''
    for (const event of events.toString('utf8').split(EVENT_BOUNDARY)) {
      const data = parsedObject(eventData(event) ?? '')
      const name = EVENT_NAME.exec(event)?.[1]?.trim() ?? ''
      if (data !== null) text += this.writtenOrFailed(() => this.convertEvent(data, name))
    }
    return Buffer.from(text)
  }

  private convertEvent(data: JsonObject, name: string): string {
    this.lost?.read(data)
    return this.write(this.reader.read(data, name))
  }

  /**
   * Returns the text that `write` returns, or an empty text if `write` fails because the arguments
   * of a tool call are nested too deeply to be serialized again.
   */
  private writtenOrFailed(write: () => string): string {
    try {
      return write()
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      this.error ??= UNCONVERTED
      return ''
    }
  }

  /** Converts the last events of the stream, and writes its end. */
  end(events: Buffer): Buffer {
    const last = this.convert(events)
    // Some writers hold back tool calls until the end.
    const rest = this.writtenOrFailed(() => this.write(this.reader.finish()))
    const end = this.hasEnd ? this.writtenOrFailed(() => this.writer.write({ kind: 'end' })) : ''
    return Buffer.concat([last, Buffer.from(rest + end)])
  }

  private write(events: readonly CanonicalEvent[]): string {
    const { model, originalNames } = this.names
    let text = ''
    for (const event of events) {
      this.lost?.readPart(event)
      if (event.kind === 'error') this.error ??= event
      else if (event.kind === 'end') this.hasEnd = true
      else if (event.kind === 'start') text += this.writer.write({ ...event, model })
      else text += this.writer.write(withOriginalToolName(event, originalNames))
    }
    return text
  }
}
