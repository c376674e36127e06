import type { CanonicalAnswer, CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import type { CanonicalRequest, Converted } from '#relay/canonical/canonical-request.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'

/**
 * The values that a translated request depends on, besides the chat itself: the provider's name for
 * the model, whether the answer is streamed, and a field of the channel.
 */
export type TranslationTarget = {
  readonly model: string
  readonly isStream: boolean
  /** The channel's field `other`, which may contain the id of a bot. */
  readonly other: string
}

/**
 * An error with the provider's wording. `type` is a code that clients of OpenAI's format know, such
 * as `invalid_api_key`, or the provider's own code.
 */
export type ProviderError = {
  readonly status: number
  readonly type: string
  readonly message: string
}

/** A server-sent event. `fields` contains every field by name. `data` contains all `data` lines. */
export type ProviderEvent = {
  readonly name: string
  readonly data: string
  readonly fields: Readonly<Record<string, string>>
}

/** Reads the events of one streamed answer. An `end` event means that the answer is complete. */
export type ProviderEventReader = (event: ProviderEvent) => readonly CanonicalEvent[]

/**
 * Translates chats between OpenAI's format and the format of one provider. None of the functions
 * sends or receives anything. A request is translated just before it is sent, and an answer as soon
 * as it is received. All other steps of a call thus handle only OpenAI's format: usage,
 * conversions, errors and retries work as for every other chat.
 */
export type Translation = {
  /**
   * Writes a request. Throws a `ConversionError` if the provider lacks a feature that the request
   * needs.
   */
  readonly writeRequest: (
    request: CanonicalRequest,
    target: TranslationTarget,
  ) => Converted<JsonObject>
  /** Reads a complete answer. Returns null if the body is not an answer. */
  readonly readAnswer: (body: JsonObject) => CanonicalAnswer | null
  /**
   * Reads an error. Returns null if the body contains none. `status` is the HTTP status of the
   * response.
   */
  readonly readError: (body: JsonObject, status: number) => ProviderError | null
  readonly createEventReader: () => ProviderEventReader
}
