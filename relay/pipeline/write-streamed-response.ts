import { type Exchange, headersOf } from './http-exchange.ts'
import type { CallResponse } from './http-request-and-response-types.ts'

/**
 * The maximum length in bytes of events or a plain answer that are copied into a string before
 * writing. Longer data is written without a copy.
 */
export const SINGLE_WRITE_BYTES_MAX = 16 * 1024
const CRLF = '\r\n'
const LAST_CHUNK = '0\r\n\r\n'

const eventType = ({ jsonArray }: Exchange): string =>
  `${jsonArray === null ? 'text/event-stream' : 'application/json'}; charset=utf-8`

function startStream(exchange: Exchange, contentType = eventType(exchange)): void {
  const { response } = exchange
  response.writeHead(200, [
    ...headersOf(exchange),
    'Content-Type',
    contentType,
    'Cache-Control',
    'no-cache',
    'X-Accel-Buffering',
    'no',
  ])
  // Node would write each chunk in four pieces: the size, the events and two line ends. This module
  // encodes chunks itself (RFC 9112, section 7.1), usually as one piece. This takes a fifth less
  // time.
  response.chunkedEncoding = false
}

/** Writes events. Returns false if the caller's connection accepts no more bytes for now. */
export function writeEvents(exchange: Exchange, streamed: Buffer): boolean {
  const { response, jsonArray } = exchange
  const events = jsonArray === null ? streamed : jsonArray.elementsOf(streamed)
  if (!response.headersSent) startStream(exchange)
  // An empty chunk would end the response.
  if (events.length === 0) return true
  noteSent(exchange, events)
  if (!isChunked(response)) return response.write(events)
  if (events.length <= SINGLE_WRITE_BYTES_MAX) return response.write(chunkOf(events), 'latin1')
  response.write(`${events.length.toString(16)}${CRLF}`, 'latin1')
  response.write(events)
  return response.write(CRLF, 'latin1')
}

/**
 * Remembers the events that have been sent, if error events in this format depend on them. Only a
 * summary of the first events is kept, because these may repeat the whole request.
 */
function noteSent(exchange: Exchange, events: Buffer): void {
  const { readBegun } = exchange.errors
  if (readBegun === undefined) return
  if (exchange.sent) exchange.sent.last = events
  else exchange.sent = { begun: readBegun(events), last: events }
}

/**
 * Writes a part of a binary answer. Returns false if the caller's connection accepts no more bytes
 * for now.
 */
export function writeBytes(exchange: Exchange, contentType: string | null, bytes: Buffer): boolean {
  if (!exchange.response.headersSent) startStream(exchange, contentType ?? undefined)
  return writeEvents(exchange, bytes)
}

/** Writes the last events, if there are any, and ends the response. */
export function endStream(exchange: Exchange, events: Buffer | string): void {
  const { response } = exchange
  if (!response.headersSent) startStream(exchange)
  const { jsonArray } = exchange
  const last = jsonArray === null ? events : jsonArray.end(events)
  const bytes = typeof last === 'string' ? Buffer.from(last) : last
  if (!isChunked(response)) response.end(bytes)
  else response.end(`${bytes.length > 0 ? chunkOf(bytes) : ''}${LAST_CHUNK}`, 'latin1')
}

/** Encodes the bytes as a chunk in Latin-1, which keeps every byte. */
const chunkOf = (bytes: Buffer): string =>
  `${bytes.length.toString(16)}${CRLF}${bytes.toString('latin1')}${CRLF}`

/**
 * Reports whether the response is sent in chunks. HTTP 1.0 clients do not support chunks and read
 * until the connection is closed.
 */
const isChunked = ({ useChunkedEncodingByDefault }: CallResponse): boolean =>
  useChunkedEncodingByDefault
