import type { WebSocket } from 'ws'

/** The bytes that may wait for one side before the other side is no longer read. */
export const WAITING_BYTES_MAX = 1024 * 1024

/**
 * Sends a message. Returns a promise if too many bytes wait, which resolves when the message was
 * sent or the connection was closed.
 */
export function sent(socket: WebSocket, text: string): Promise<void> | undefined {
  if (socket.readyState !== socket.OPEN) return undefined
  if (socket.bufferedAmount < WAITING_BYTES_MAX) {
    socket.send(text, () => {})
    return undefined
  }
  return new Promise((resolve) => socket.send(text, () => resolve()))
}
