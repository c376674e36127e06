import type { CanonicalAnswer, CanonicalEvent } from '#relay/conversion/canonical-answer.ts'
import type {
  CanonicalRequest,
  Converted,
  JsonObject,
} from '#relay/conversion/canonical-request.ts'

/** The provider's name for the model, and the channel's settings on which a request depends. */
export type TranslationTarget = {
  readonly model: string
  readonly isStream: boolean
  /** The channel's field `other`, such as the id of a bot. */
  readonly other: string
}

/**
 * An error in the words of a provider. `type` is a code that clients of OpenAI's format know, such
 * as `invalid_api_key`, or the provider's own code.
 */
export type ProviderError = {
  readonly status: number
  readonly type: string
  readonly message: string
}

/** A server-sent event. `fields` has every field by its name; `data` has all its lines. */
export type ProviderEvent = {
  readonly name: string
  readonly data: string
  readonly fields: Readonly<Record<string, string>>
}

/** Reads the events of one streamed answer. An event `end` marks the answer as complete. */
export type ProviderEventReader = (event: ProviderEvent) => readonly CanonicalEvent[]

/**
 * Translates chats between OpenAI's format and the format of one provider. All functions are pure.
 * A request is translated just before it is sent, and an answer as soon as it is received. The
 * pipeline therefore handles only OpenAI's format, and usage, conversions, errors and retries work
 * as for every other chat.
 */
export type Translation = {
  /**
   * Writes a request. Throws `ConversionError` if the provider can't do what the request needs.
   */
  readonly writeRequest: (
    request: CanonicalRequest,
    target: TranslationTarget,
  ) => Converted<JsonObject>
  /** Reads a plain answer. Returns null for any other body. */
  readonly readAnswer: (body: JsonObject) => CanonicalAnswer | null
  /**
   * Reads an error. Returns null if the body has no error. `status` is the HTTP status of the
   * answer.
   */
  readonly readError: (body: JsonObject, status: number) => ProviderError | null
  readonly createEventReader: () => ProviderEventReader
}
