import type { Logger } from 'pino'

/** The status code with which a websocket is closed after an unexpected exception (RFC 6455). */
const INTERNAL_ERROR = 1011

/**
 * Runs `work`, which handles an event of a websocket. If `work` throws, the exception is logged and
 * only this socket is closed. Without this function, an exception in a listener of the socket would
 * end the process, and with it the connections of all users.
 */
export function closeSocketOnException(
  log: Logger,
  socket: { readonly close: (code: number, reason: string) => void },
  work: () => void,
): void {
  try {
    work()
  } catch (err) {
    log.error({ err }, 'a websocket was closed after an exception')
    socket.close(INTERNAL_ERROR, 'internal error')
  }
}
