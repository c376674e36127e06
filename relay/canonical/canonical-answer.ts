import type { Usage } from '#domain/pricing/usage.ts'
import type { RefusalPart, TextPart, ThinkingPart, ToolCallPart } from './canonical-request.ts'
import type { JsonObject } from './json-values.ts'

export type AnswerPart = TextPart | ThinkingPart | ToolCallPart | RefusalPart

/** Why a model's answer ended. `interrupted` means that the provider could not complete it. */
export type StopReason =
  | ('end' | 'length' | 'tool-calls' | 'stop-sequence' | 'refusal' | 'pause')
  | 'interrupted'

/** One complete answer, independent of any wire format. */
export type CanonicalAnswer = {
  /** The provider's id of the answer. */
  readonly id: string
  readonly model: string
  /**
   * The choices (alternative answers). Only OpenAI's chat format and Gemini's format can have
   * several.
   */
  readonly choices: readonly CanonicalChoice[]
  readonly usage: CanonicalUsage | null
}

export type CanonicalChoice = {
  readonly parts: readonly AnswerPart[]
  readonly stop: StopReason
  /** The stop sequence that ended the answer. Null if none did. */
  readonly stopSequence: string | null
  /** The log probabilities in OpenAI's chat format (`logprobs.content`). Null if there are none. */
  readonly logprobs: readonly JsonObject[] | null
}

/**
 * The usage that a provider reported. Each input token is counted in exactly one of the input
 * counts.
 */
export type CanonicalUsage = Pick<
  Usage,
  | 'inputUncached'
  | 'cacheRead'
  | 'cacheWrite5m'
  | 'cacheWrite1h'
  | 'inputAudio'
  | 'inputImage'
  | 'output'
  | 'reasoning'
  | 'outputAudio'
  | 'outputImage'
>

/** An error of a provider. `message` may contain confidential texts. */
export type AnswerError = {
  readonly type: string
  readonly message: string
  /**
   * True if the model failed, for example with a malformed tool call. The provider charges for such
   * an answer. Omitted if the provider failed.
   */
  readonly isOfModel?: true
}

/** Thrown by the reader of an answer if the answer ended with a failure of the model. */
export class FailedAnswer extends Error {
  readonly type: string
  constructor({ type, message }: AnswerError) {
    super(message)
    this.type = type
  }
}

/**
 * One event of a streamed answer. `choice` is 0 in formats with only one choice. The parts of a
 * choice are numbered from 0 in the order in which they begin. The events of different parts are
 * not interleaved, except those of tool calls.
 */
export type CanonicalEvent =
  | { readonly kind: 'start'; readonly id: string; readonly model: string }
  /**
   * The model has begun its first part, but the content of the part may take minutes to arrive.
   * Readers return this event at most once, and never together with the part's content.
   */
  | { readonly kind: 'part-begun'; readonly choice: number }
  | PartEvent<'text', { readonly text: string; readonly signature?: string }>
  | PartEvent<'refusal', { readonly text: string }>
  | PartEvent<'thinking', { readonly text: string }>
  | PartEvent<'thinking-signature', { readonly signature: string }>
  | PartEvent<'thinking-redacted', { readonly data: string }>
  | PartEvent<
      'tool-call',
      { readonly id: string; readonly name: string; readonly signature?: string }
    >
  | PartEvent<'tool-arguments', { readonly json: string }>
  | { readonly kind: 'logprobs'; readonly choice: number; readonly tokens: readonly JsonObject[] }
  | {
      readonly kind: 'stop'
      readonly choice: number
      readonly stop: StopReason
      readonly stopSequence: string | null
    }
  /** The usage so far. It replaces the usage of all earlier events of this kind. */
  | { readonly kind: 'usage'; readonly usage: CanonicalUsage }
  /**
   * The provider ended the stream with an error. `status` is the HTTP status for its cause, and is
   * omitted if the error has no corresponding status.
   */
  | ({ readonly kind: 'error'; readonly status?: number } & AnswerError)
  /** The provider sent its last event. */
  | { readonly kind: 'end' }

type PartEvent<Kind extends string, Fields> = {
  readonly kind: Kind
  readonly choice: number
  readonly part: number
} & Fields

/**
 * Reads the events of one streamed answer. `event` is the value of the SSE field `event`, or an
 * empty string.
 */
export type StreamReader = {
  readonly read: (data: JsonObject, event: string) => readonly CanonicalEvent[]
  /** Called when the stream ends. Returns the remaining events, such as `end`. */
  readonly finish: () => readonly CanonicalEvent[]
}

/** Writes one streamed answer as server-sent events. */
export type StreamWriter = {
  readonly write: (event: CanonicalEvent) => string
  /**
   * True when the rest of the answer can't be written, because the writer would have to hold back
   * too many events in memory.
   */
  readonly hasGivenUp?: boolean
}
