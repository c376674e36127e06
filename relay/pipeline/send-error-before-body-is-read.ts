import type { RelayError } from '../canonical/relay-error.ts'
import { type EndAnswer, type Exchange, sendError } from './http-exchange.ts'
import type { CallResponse } from './http-request-and-response-types.ts'

/** The time for which the connection stays open, so that the caller can read the response. */
const LINGER_MS = 500
/**
 * The maximum number of connections that stay open for `LINGER_MS`. All other connections are
 * closed immediately.
 */
const LINGERING_MAX = 64

type SendError = (exchange: Exchange, error: RelayError, end?: EndAnswer) => void

let lingering = 0

/**
 * Sends the error for a request whose body was not read completely. The connection is closed,
 * because Node would otherwise read the remaining body. The request is paused first, because the
 * response may get lost if bytes arrive while the connection is being closed. `send` sends the
 * error in the format of the caller.
 */
export function rejectUnreadRequest(
  exchange: Exchange,
  error: RelayError,
  send: SendError = sendError,
): void {
  const { request, response } = exchange
  if (request.complete || request.destroyed) return send(exchange, error)
  // NOTE: without this call, Node would read the complete body after the response.
  request.read(0)
  request.pause()
  response.shouldKeepAlive = false
  if (lingering < LINGERING_MAX) send(exchange, error, endLater)
  else send(exchange, error)
}

/**
 * Writes the response immediately, but ends it after a delay. Clients know from `Content-Length`
 * that the response is complete.
 */
function endLater(response: CallResponse, text: string): void {
  lingering += 1
  response.write(text)
  const timer = setTimeout(() => response.end(), LINGER_MS)
  response.once('close', () => {
    clearTimeout(timer)
    lingering -= 1
  })
}
