import type { IncomingMessage } from 'node:http'
import type { Readable, Writable } from 'node:stream'

/**
 * The members of a request that the relay uses. A message of a websocket has no others, so that the
 * compiler rejects the use of any other member.
 */
export type CallRequest = Readable &
  Pick<IncomingMessage, 'headers' | 'url' | 'method' | 'socket' | 'complete'>

/** The members of a response that the relay uses. A response over a websocket has no others. */
export type CallResponse = Writable & {
  readonly headersSent: boolean
  readonly useChunkedEncodingByDefault: boolean
  chunkedEncoding: boolean
  shouldKeepAlive: boolean
  readonly writeHead: (status: number, headers: string[]) => unknown
  readonly setHeader: (name: string, value: string) => unknown
  readonly hasHeader: (name: string) => boolean
  readonly removeHeader: (name: string) => void
  /** Returns the names of the headers in lower case. */
  readonly getHeaderNames: () => string[]
}
