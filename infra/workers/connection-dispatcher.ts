import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { BACKLOG, type HttpListener, rethrowListenError, urlOf } from '../http-listener.ts'
import type { ToWorker } from './worker-messages.ts'

type PendingConnection = { readonly socket: Socket; readonly late: NodeJS.Timeout }

/**
 * The maximum time in milliseconds for which a connection waits for a worker. A connection that has
 * waited longer is closed.
 */
const WAIT_MS = 10_000
const CONNECTION: ToWorker = { type: 'connection' }

/**
 * Listens on the port of all workers and passes each connection to a worker. A worker has at most
 * one connection in transfer, so a busy worker gets fewer connections. Until the worker confirms a
 * connection, the connection stays open in this process. If the worker dies first, another worker
 * gets the connection.
 */
export class ConnectionDispatcher {
  private readonly waiting: PendingConnection[] = []
  private readonly members = new Set<ChildProcess>()
  /** The workers without a connection in transfer, in round-robin order. */
  private readonly idle = new Set<ChildProcess>()
  private readonly inTransfer = new Map<ChildProcess, Socket>()
  private readonly server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => {})
    this.wait(socket, false)
  })

  async open(port: number, host: string): Promise<string> {
    const listening = once(this.server.listen({ port, host, backlog: BACKLOG }), 'listening')
    await listening.catch(rethrowListenError)
    return urlOf(this.server, host)
  }

  /** Passes connections to this worker until the worker ends. */
  add(worker: ChildProcess): void {
    this.members.add(worker)
    this.idle.add(worker)
    // NOTE: `close` fires after all messages of the worker are delivered; `disconnect` is too
    // early.
    worker.once('close', () => this.workerEnded(worker))
    this.handOut()
  }

  /** Called when the worker has confirmed the connection. */
  accepted(worker: ChildProcess): void {
    // Only this process's copy of the connection is destroyed. The worker's copy stays open.
    this.inTransfer.get(worker)?.destroy()
    this.inTransfer.delete(worker)
    if (this.members.has(worker)) this.idle.add(worker)
    this.handOut()
  }

  /** Passes no more connections to this worker. Without workers, the port is closed. */
  remove(worker: ChildProcess): void {
    this.members.delete(worker)
    this.idle.delete(worker)
    if (this.members.size === 0) this.close()
  }

  /** Closes the port and the connections that still wait for a worker. */
  close(): void {
    this.server.close()
    for (const { socket, late } of this.waiting.splice(0)) {
      clearTimeout(late)
      socket.destroy()
    }
  }

  private wait(socket: Socket, isFirst: boolean): void {
    const late = setTimeout(() => {
      this.waiting.splice(this.waiting.indexOf(pending), 1)
      socket.destroy()
    }, WAIT_MS)
    const pending: PendingConnection = { socket, late }
    if (isFirst) this.waiting.unshift(pending)
    else this.waiting.push(pending)
    this.handOut()
  }

  private handOut(): void {
    for (const worker of this.idle) {
      const pending = this.waiting.shift()
      if (pending === undefined) return
      clearTimeout(pending.late)
      this.idle.delete(worker)
      this.inTransfer.set(worker, pending.socket)
      // A failed send is ignored, because the worker is ending and another worker gets the
      // connection.
      worker.send(CONNECTION, pending.socket, { keepOpen: true }, () => {})
    }
  }

  private workerEnded(worker: ChildProcess): void {
    this.members.delete(worker)
    this.idle.delete(worker)
    const socket = this.inTransfer.get(worker)
    this.inTransfer.delete(worker)
    if (socket !== undefined) this.wait(socket, true)
  }
}

export type WorkerListener = HttpListener & {
  readonly serve: (socket: Socket) => void
}

/**
 * Creates the listener of a worker. The worker's `server` does not listen on a port. Instead, the
 * primary process passes connections to `serve`. `onClosed` must tell the primary to pass no more
 * connections.
 */
export function createWorkerListener(server: Server, onClosed: () => void): WorkerListener {
  const open = new Set<Socket>()
  let closing: PromiseWithResolvers<void> | null = null
  // `listen` would emit this event. Without the event, the server would not enforce its timeouts.
  server.emit('listening')
  return {
    url: '',
    server,
    serve: (socket) => {
      // With this setting, a client that has ended its side still gets the response.
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

/**
 * Confirms a connection that the primary process has passed to this worker, and then serves it.
 * Nothing is read before the confirmation is sent, because the primary could otherwise pass a
 * partly read connection to another worker. `confirm` calls its argument once the confirmation is
 * sent.
 */
export function acceptConnection(
  listener: WorkerListener | null,
  socket: Socket | undefined,
  confirm: (done: () => void) => void,
): void {
  // The HTTP server listens for errors only once it serves the connection. Without this listener, a
  // reset connection would end the process meanwhile.
  socket?.on('error', () => {})
  confirm(() => {
    // A connection that is already closed is not served. It emits `close` only once, so the
    // listener would wait forever for its end.
    if (listener === null || socket?.destroyed === true) socket?.destroy()
    else if (socket !== undefined) listener.serve(socket)
  })
}
