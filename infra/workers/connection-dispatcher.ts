import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { BACKLOG, type HttpListener, rethrowListenError, urlOf } from '../http-listener.ts'
import type { ToWorker } from './messages.ts'

type PendingConnection = { readonly socket: Socket; readonly late: NodeJS.Timeout }

/**
 * While all workers stall or are being replaced, a connection waits this long; then it is closed.
 */
const WAIT_MS = 10_000
const CONNECTION: ToWorker = { type: 'connection' }

/**
 * Owns the one port of all workers: it accepts connections and hands each to a worker.
 *
 * Each worker has at most one connection in transfer, so that a busy worker gets fewer. The
 * connection stays open in this process as well until the worker confirms it, which the worker does
 * before it reads. If the worker dies before that, the untouched connection goes to another worker.
 */
export class ConnectionDispatcher {
  private readonly waiting: PendingConnection[] = []
  private readonly members = new Set<ChildProcess>()
  /** Workers without a connection in transfer, in round-robin order. */
  private readonly idle = new Set<ChildProcess>()
  private readonly inTransfer = new Map<ChildProcess, Socket>()
  private readonly server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => {})
    this.wait(socket, false)
  })

  /** Resolves with the base URL of the port. */
  async open(port: number, host: string): Promise<string> {
    const listening = once(this.server.listen({ port, host, backlog: BACKLOG }), 'listening')
    await listening.catch(rethrowListenError)
    return urlOf(this.server, host)
  }

  /** Hands connections to this worker, in rotation with the others, until it ends. */
  add(worker: ChildProcess): void {
    this.members.add(worker)
    this.idle.add(worker)
    // NOTE: `close` fires after all messages of the worker are delivered; `disconnect` fires too
    // early.
    worker.once('close', () => this.workerEnded(worker))
    this.handOut()
  }

  /** Ends a transfer: the worker has the connection and has not read from it yet. */
  accepted(worker: ChildProcess): void {
    // The worker's descriptor of the connection stays open.
    this.inTransfer.get(worker)?.destroy()
    this.inTransfer.delete(worker)
    if (this.members.has(worker)) this.idle.add(worker)
    this.handOut()
  }

  /** Hands the worker no more connections. The port closes with the last worker. */
  remove(worker: ChildProcess): void {
    this.members.delete(worker)
    this.idle.delete(worker)
    if (this.members.size === 0) this.close()
  }

  /** Closes the port and every connection that no worker has accepted. */
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
      // A connection that can't be sent is handed out again once the worker has ended.
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
  /** Serves a connection that the primary has accepted. */
  readonly serve: (socket: Socket) => void
}

/**
 * Creates the listener of a worker, whose `server` has no port. `onClosed` tells the primary to
 * hand over no more connections.
 */
export function createWorkerListener(server: Server, onClosed: () => void): WorkerListener {
  const open = new Set<Socket>()
  let closing: PromiseWithResolvers<void> | null = null
  // `listen` would emit this event; the server counts connections and enforces timeouts from then
  // on.
  server.emit('listening')
  return {
    url: '',
    server,
    serve: (socket) => {
      // Node's HTTP server does the same: a client that has ended its side still gets its response.
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
