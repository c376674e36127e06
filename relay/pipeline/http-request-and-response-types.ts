import type { IncomingMessage } from 'node:http'
import type { Readable, Writable } from 'node:stream'

/**
 * The members of an HTTP request that the relay uses. A websocket message is handled as a request
 * with only these members, so the compiler must reject the use of any other member.
 */
export type CallRequest = Readable &
  Pick<IncomingMessage, 'headers' | 'url' | 'method' | 'socket' | 'complete'>

/**
 * The members of an HTTP response that the relay uses. A response over a websocket has only these
 * members.
 */
export type CallResponse = Writable & {
  readonly headersSent: boolean
  readonly useChunkedEncodingByDefault: boolean
  /** True if a plain answer must be sent as events, because the connection has no other form. */
  readonly sendsOnlyEvents?: true
  chunkedEncoding: boolean
  shouldKeepAlive: boolean
  readonly writeHead: (status: number, headers: string[]) => unknown
  readonly setHeader: (name: string, value: string) => unknown
  readonly hasHeader: (name: string) => boolean
  readonly removeHeader: (name: string) => void
  /** Returns the names of the headers in lower case. */
  readonly getHeaderNames: () => string[]
}
