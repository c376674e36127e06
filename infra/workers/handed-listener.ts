import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpListener } from '../http-listener.ts'

export type HandedListener = HttpListener & {
  /** Serves a connection that the primary has accepted. */
  readonly enter: (socket: Socket) => void
}

/** A worker's: `server` listens nowhere. `onClosed`: the primary must hand it nothing more. */
export function createHandedListener(server: Server, onClosed: () => void): HandedListener {
  const open = new Set<Socket>()
  let closing: PromiseWithResolvers<void> | null = null
  // What `listen` would do: it counts connections and sees to their timeouts from now on.
  server.emit('listening')
  return {
    url: '',
    server,
    enter: (socket) => {
      // As an HTTP server's own have it: who sends no more may still be answered.
      socket.allowHalfOpen = true
      open.add(socket)
      socket.once('close', () => {
        open.delete(socket)
        if (open.size === 0) closing?.resolve()
      })
      server.emit('connection', socket)
    },
    close: () => {
      if (closing !== null) return closing.promise
      closing = Promise.withResolvers<void>()
      if (open.size === 0) closing.resolve()
      onClosed()
      return closing.promise
    },
  }
}
