import type { ServerResponse } from 'node:http'

/** The time in milliseconds after which a connection ends whose client accepts no byte. */
const STALL_MS = 60_000

/**
 * Closes the connection of a response if the client stops reading after the response was written
 * completely. The rest of a large answer would otherwise stay in memory, and the connection open,
 * for as long as the client likes. A client that reads slowly keeps its connection. While a
 * response is still being written, its writer must detect this.
 */
export function endIfStalled(response: ServerResponse, stallMs = STALL_MS): void {
  response.once('prefinish', () => {
    // After the last byte, Node replaces this timeout by that of idle connections.
    if (response.writableLength > 0) response.setTimeout(stallMs)
  })
}
