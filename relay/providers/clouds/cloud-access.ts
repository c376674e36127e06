import type { Dispatcher } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import type { StreamedBody } from '../../uploads/write-form-for-provider.ts'

/** A call in the form in which a provider receives it. */
export type ProviderCall = {
  readonly origin: string
  /** The encoded path with its query. */
  readonly path: string
  /** A flat list of names and values. Names are in lower case. */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** The body that is sent in place of `body`, if the request has files. */
  readonly upload?: StreamedBody
}

/**
 * Thrown if a call can't be sent, because no credentials could be obtained. `status` is the status
 * with which the credentials were refused, or null if the provider could not be reached.
 */
export class CredentialsError extends Error {
  readonly status: number | null
  /** The provider's error, which may contain confidential texts. */
  readonly body: Buffer

  constructor(status: number | null, body: Buffer) {
    super('the provider gave no credentials')
    this.status = status
    this.body = body
  }
}

/** Decodes the answers of a provider that wraps a wire format in another encoding. */
export type AnswerDecoder = {
  /** The media type of the provider's streams. Streams of other types are not decoded. */
  readonly mediaType: string
  readonly createStream: () => StreamDecoder
  /**
   * Reads a plain answer with a status of success. Omitted if plain answers are in the wire format.
   */
  readonly readAnswer?: (body: Buffer, status: number) => DecodedAnswer
  /** Rewrites the body of an answer with an error. `status` is the status of the answer. */
  readonly errorBody: (
    body: Buffer,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    status: number,
  ) => Buffer
}

export type DecodedAnswer =
  | { readonly kind: 'answer'; readonly body: Buffer }
  /** The body has an error, although its status was one of success. */
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'failed'; readonly error: 'cut' | 'format' | 'too-large' }

/** Sends requests in place of a pool of connections, for a provider that is not called by HTTP. */
export type Transport = Pick<Dispatcher, 'dispatch'>

/** Why the rest of a stream can't be read. */
export type DecoderFault = 'cut' | 'too-large'

export type StreamDecoder = {
  /** Returns the server-sent events that the chunk completes. */
  readonly push: (chunk: Buffer) => Buffer
  /** Set once the rest of the stream can't be read. */
  readonly fault: DecoderFault | null
}

/**
 * The access to a cloud provider with one key. The address, the model's id and the headers of a
 * call depend on the key and on the model.
 */
export type CloudAccess = {
  /**
   * The base URL of calls to a model. `model` is empty for requests without a model. An address
   * that the operator has entered takes precedence.
   */
  readonly baseUrlFor: (model: string) => string
  /** Replaces the placeholders of a path, such as `{model}` and `{project}`. */
  readonly fillPath: (path: string, model: string) => string
  /**
   * Adds the credentials to a call. The promise rejects with a `CredentialsError` if there are
   * none.
   */
  readonly authorize: (call: ProviderCall, connections: Connections) => Promise<ProviderCall>
  /**
   * Reports whether a beta of Anthropic's API is sent to the provider. Omitted if all betas are.
   */
  readonly takesBeta?: (beta: string) => boolean
  /** Called when the provider refused the credentials of a call. */
  readonly dropCredentials: () => void
  /** Lists the texts that messages to callers must not contain. */
  readonly confidential: () => readonly string[]
  /** Null if the answers are in the wire format itself. */
  readonly decoder: AnswerDecoder | null
  /** Sends the calls. Omitted if they are sent by HTTP as they are. */
  readonly transport?: (connections: Connections, origin: string) => Transport
}

/**
 * Returns how a key is used. Returns null if the key or the channel's field `other` is malformed.
 * `baseUrl` is the address that the operator has entered, or empty.
 */
export type OpenCloud = (channel: {
  readonly key: string
  readonly other: string
  readonly baseUrl: string
}) => CloudAccess | null

export const MODEL = '{model}'

/** Reports whether a text consists of visible ASCII, so that it can be sent in a header. */
export const isVisibleText = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** Returns the value of a header in a flat list of names and values, or an empty text. */
export function headerIn(headers: readonly string[], name: string): string {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text === name)
  return at < 0 ? '' : (headers[at + 1] ?? '')
}

export const BETA_HEADER = 'anthropic-beta'

/** Returns the betas in the value of a header. */
export const betasIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')

/** Returns a flat list of names and values as an object. */
export const headersByName = (headers: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? '']] : [])),
  )

/** Removes headers by their names from a flat list of names and values. */
export const withoutHeaders = (
  headers: readonly string[],
  isRemoved: (name: string) => boolean,
): readonly string[] => headers.filter((_, index) => !isRemoved(headers[index - (index % 2)] ?? ''))
