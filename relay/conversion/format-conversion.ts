import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { ConvertedFormatName, PathParameters } from '#relay/dialects/wire-format.ts'
import type { CanonicalAnswer, StreamReader, StreamWriter } from '../canonical/canonical-answer.ts'
import type { CanonicalRequest, Converted, Thinking } from '../canonical/canonical-request.ts'
import type { ChatExtensions } from './openai-chat/chat-extensions-of-provider.ts'

/** The formats to which requests can be converted. */
export type ProviderFormatName = Exclude<ConvertedFormatName, 'completions'>

/** The provider for which a request is converted: its format, and what it accepts. */
export type ConversionTarget = {
  readonly format: ProviderFormatName
  /** The provider's name for the model. */
  readonly model: string
  /** The output limit in tokens for a request without a limit. Some formats require a limit. */
  readonly outputTokensMax: number
  /**
   * The highest output limit that the call's hold (the reserved quota) covers. Null for no maximum.
   */
  readonly outputTokensCovered?: number | null
  readonly vendor: ChatExtensions
  /**
   * States how much the model should think. If set, it replaces the thinking that the request
   * states.
   */
  readonly thinking?: Thinking
}

/**
 * Writes the answer of one call in the caller's format. `id` is the id of the call. Answers of the
 * Responses API always contain this id. Other answers contain it only if the provider sent no id.
 */
export type AnswerWriters = {
  readonly writeAnswer: (answer: CanonicalAnswer, id: string) => JsonObject
  readonly createStreamWriter: (id: string) => StreamWriter
}

/**
 * Converts requests from a caller's format to the canonical form, and answers from the canonical
 * form to the caller's format.
 */
export type CallerConversion = {
  readonly readRequest: (body: JsonObject, path: PathParameters) => Converted<CanonicalRequest>
  /** `isStored` tells whether the gateway stores the answer. */
  readonly writersFor: (requestBody: JsonObject, isStored: boolean) => AnswerWriters
}

/** Converts requests and answers in both directions between one format and the canonical form. */
export type FormatConversion = CallerConversion & {
  /** `requestBody` is the caller's request, in the caller's format. */
  readonly writeRequest: (
    request: CanonicalRequest,
    target: ConversionTarget,
    requestBody: Buffer,
  ) => Converted<JsonObject>
  /**
   * Reads a complete answer. `id` is the id of the call. It becomes the answer's id if the provider
   * sent none, so that the ids of its tool calls differ from those of other answers.
   */
  readonly readAnswer: (body: JsonObject, id?: string) => CanonicalAnswer
  /** Creates a reader of one stream. `id` is used as by `readAnswer`. */
  readonly createStreamReader: (id?: string) => StreamReader
}
