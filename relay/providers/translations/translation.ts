import type { CanonicalAnswer, CanonicalEvent } from '#relay/conversion/canonical-answer.ts'
import type {
  CanonicalRequest,
  Converted,
  JsonObject,
} from '#relay/conversion/canonical-request.ts'

/** The provider's name for the model, and what else decides how a request is written. */
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
 * How chats are carried in the format of one provider. All functions are pure. The pipeline sees a
 * chat in OpenAI's format: its request is translated before it is sent, and its answer after it was
 * received. So usage, conversions, errors and retries are those of every other chat.
 */
export type Translation = {
  /**
   * Writes a request. Throws `ConversionError` if the provider can't do what the request needs.
   */
  readonly writeRequest: (
    request: CanonicalRequest,
    target: TranslationTarget,
  ) => Converted<JsonObject>
  /** Reads a plain answer. Null if it is none. */
  readonly readAnswer: (body: JsonObject) => CanonicalAnswer | null
  /** Reads an error. Null if the body has none. `status` is the HTTP status of the answer. */
  readonly readError: (body: JsonObject, status: number) => ProviderError | null
  readonly createEventReader: () => ProviderEventReader
}
