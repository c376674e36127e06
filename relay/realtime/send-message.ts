import type { WebSocket } from 'ws'

/**
 * The maximum number of bytes that wait to be sent to one side of a session. If more bytes wait,
 * the other side is not read.
 */
export const WAITING_BYTES_MAX = 1024 * 1024

/**
 * Sends a text message. If too many bytes already wait to be sent, returns a promise that resolves
 * when the message was sent or the connection was closed. Otherwise, returns undefined.
 */
export function sendMessage(socket: WebSocket, text: string): Promise<void> | undefined {
  if (socket.readyState !== socket.OPEN) return undefined
  if (socket.bufferedAmount < WAITING_BYTES_MAX) {
    socket.send(text, () => {})
    return undefined
  }
  return new Promise((resolve) => socket.send(text, () => resolve()))
}
