import type { ConvertedFormatName, PathParameters } from '#relay/dialects/wire-format.ts'
import type { CanonicalAnswer, StreamReader, StreamWriter } from './canonical-answer.ts'
import type { CanonicalRequest, Converted, JsonObject, Thinking } from './canonical-request.ts'
import type { ChatVendor } from './openai-chat/chat-extensions-of-provider.ts'

/** The formats to which requests are converted. */
export type ProviderFormatName = Exclude<ConvertedFormatName, 'completions'>

/** The provider to which a request is converted: its format, and what it accepts. */
export type ConversionTarget = {
  readonly format: ProviderFormatName
  /** The provider's name for the model. */
  readonly model: string
  /** The output limit for a request that has none. Some formats require a limit. */
  readonly outputTokensMax: number
  /** The highest output limit that the call's hold covers. Null for none. */
  readonly outputTokensMost?: number | null
  readonly vendor: ChatVendor
  /** How much the model shall think. It replaces what the request says. */
  readonly thinking?: Thinking
}

/**
 * Writes the answer of one call in the caller's format. `id` is used if the provider sent no id.
 */
export type AnswerWriters = {
  readonly writeAnswer: (answer: CanonicalAnswer, id: string) => JsonObject
  readonly createStreamWriter: (id: string) => StreamWriter
}

/** The conversion of a caller's format: its requests to the canonical form, and answers back. */
export type CallerConversion = {
  readonly readRequest: (body: JsonObject, path: PathParameters) => Converted<CanonicalRequest>
  readonly writersFor: (requestBody: JsonObject) => AnswerWriters
}

/** The conversion of a format of callers and providers from and to the canonical form. */
export type FormatConversion = CallerConversion & {
  readonly writeRequest: (
    request: CanonicalRequest,
    target: ConversionTarget,
  ) => Converted<JsonObject>
  readonly readAnswer: (body: JsonObject) => CanonicalAnswer
  readonly createStreamReader: () => StreamReader
}
