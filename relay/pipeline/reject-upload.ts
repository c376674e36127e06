import type { ServerResponse } from 'node:http'
import type { RelayError } from '../canonical/relay-error.ts'
import { type Exchange, sendError } from './exchange.ts'

/** For the caller to read the answer before its connection is reset. */
const LINGER_MS = 500
/** Beyond so many connections the next one is closed at once. */
const LINGERING_MAX = 64

let lingering = 0

/**
 * Sends the error of a request whose body was not read to its end, and closes the connection: Node
 * would read the rest of the body to throw it away, and a caller who is refused could keep the loop
 * busy with that. A connection that is closed while bytes arrive is reset, and the answer may be
 * lost with it, so nothing more is read for a moment before it is closed.
 */
export function rejectUpload(exchange: Exchange, error: RelayError): void {
  const { request, response } = exchange
  if (request.complete || request.destroyed) return sendError(exchange, error)
  // NOTE: a request that nobody ever read from would be read to its end once it is answered.
  request.read(0)
  request.pause()
  response.shouldKeepAlive = false
  if (lingering < LINGERING_MAX) sendError(exchange, error, endLater)
  else sendError(exchange, error)
}

/** The answer is whole for its reader by its length; its end, which closes, comes later. */
function endLater(response: ServerResponse, text: string): void {
  lingering += 1
  response.write(text)
  const timer = setTimeout(() => response.end(), LINGER_MS)
  response.once('close', () => {
    clearTimeout(timer)
    lingering -= 1
  })
}
