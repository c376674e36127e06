import type { Dispatcher } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import type { StreamedBody } from '../uploads/write-form-for-provider.ts'

/** A call to a provider, in the form in which it is sent. */
export type ProviderCall = {
  readonly origin: string
  /** The encoded path, including the query. */
  readonly path: string
  /** A flat list of names and values. The names are in lower case. */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** The body that is sent instead of `body`, if the request contains files. */
  readonly upload?: StreamedBody
}

/**
 * Thrown if a call can't be sent, because its credentials could not be obtained. `status` is the
 * HTTP status with which the provider refused to issue the credentials, or null if the key is not
 * the cause, for example because the provider could not be reached.
 */
export class CredentialsError extends Error {
  readonly status: number | null
  /** The body of the provider's error, which may contain confidential texts. */
  readonly body: Buffer

  constructor(status: number | null, body: Buffer) {
    super('the provider gave no credentials')
    this.status = status
    this.body = body
  }
}

/** Decodes the answers of a provider whose encoding differs from that of a wire format. */
export type AnswerDecoder = {
  /** The media type of the provider's streams. Streams with another type are not decoded. */
  readonly mediaType: string
  readonly createStream: () => StreamDecoder
  /**
   * Decodes a complete answer with a successful status. Omitted if complete answers are already in
   * the wire format. Returns null if this answer is already in the wire format.
   */
  readonly readAnswer?: (body: Buffer, status: number) => DecodedAnswer | null
  /**
   * Converts the body of an error to the wire format. `status` is the HTTP status of the error.
   * Returns null if the body is already in the wire format.
   */
  readonly errorBody: (
    body: Buffer,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    status: number,
  ) => Buffer | null
}

/** The result of decoding a complete answer. */
export type DecodedAnswer =
  | { readonly kind: 'answer'; readonly body: Buffer }
  /** The body contains an error, although the HTTP status was a successful one. */
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'failed'; readonly error: 'cut' | 'format' | 'too-large' }

/** Takes the place of a connection pool, for a provider that does not use plain HTTP. */
export type Transport = Pick<Dispatcher, 'dispatch'>

/** The reason why the rest of a stream can't be decoded. */
export type DecoderFault = 'cut' | 'too-large'

/** Decodes the stream of one answer to server-sent events. */
export type StreamDecoder = {
  /** Returns the server-sent events that the chunk completes. */
  readonly push: (chunk: Buffer) => Buffer
  /** The reason why the rest of the stream can't be decoded. Null if there is no such reason. */
  readonly fault: DecoderFault | null
  /**
   * The HTTP status for the cause of the error event in the stream. Null if there was no error
   * event. If nothing was delivered before the error, the attempt ends as if the response had this
   * status. Omitted if the errors in the provider's streams have no corresponding status.
   */
  readonly errorStatus?: number | null
  /**
   * Returns the events that are still to be delivered when the stream has ended. Omitted if there
   * are never any.
   */
  readonly end?: () => Buffer
}

/**
 * Describes how a cloud provider is called with one key. The address, the model's id and the
 * headers depend on the key and on the model.
 */
export type CloudAccess = {
  /**
   * Returns the base URL for calls to a model. `model` is empty for requests without a model. An
   * address that the operator has entered takes precedence.
   */
  readonly baseUrlFor: (model: string) => string
  /** Replaces the placeholders in a path, such as `{model}` and `{project}`. */
  readonly fillPath: (path: string, model: string) => string
  /**
   * Returns a call with the credentials added. The promise rejects with a `CredentialsError` if
   * they could not be obtained.
   */
  readonly authorize: (call: ProviderCall, connections: Connections) => Promise<ProviderCall>
  /**
   * Reports whether a beta of Anthropic's API, given by its name, is sent to the provider. Omitted
   * if all betas are sent.
   */
  readonly takesBeta?: (beta: string) => boolean
  /** Called when the provider refused the credentials of a call. */
  readonly dropCredentials: () => void
  /** Returns the texts that messages to callers must not contain. */
  readonly confidential: () => readonly string[]
  /** Decodes the answers. Null if they are already in a wire format. */
  readonly decoder: AnswerDecoder | null
  /**
   * Returns the transport that sends the calls. Omitted if they are sent as plain HTTP requests.
   */
  readonly transport?: (connections: Connections, origin: string) => Transport
}

/**
 * Returns how the provider is called with a key. Returns null if the key or the channel's field
 * `other` is malformed. `baseUrl` is the address that the operator has entered, or empty.
 */
export type OpenCloud = (channel: {
  readonly key: string
  readonly other: string
  readonly baseUrl: string
}) => CloudAccess | null

export const MODEL_PLACEHOLDER = '{model}'
