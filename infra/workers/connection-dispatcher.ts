import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { BACKLOG, type HttpListener, rethrowListenError, urlOf } from '../http-listener.ts'
import type { ToWorker } from './messages.ts'

type Guest = { readonly socket: Socket; readonly late: NodeJS.Timeout }

/** While all workers stand still or are being replaced, a connection waits; then it is closed. */
const WAIT_MS = 10_000
const CONNECTION: ToWorker = { type: 'connection' }

/**
 * The one port of all workers: connections are accepted here, and each is handed to one of them.
 *
 * One connection at a time is on its way to a worker, so that a busy one gets fewer. Until the
 * worker has it, which it says before it reads, it is open here as well: if that one dies, it goes
 * to another as it came.
 */
export class ConnectionDispatcher {
  private readonly waiting: Guest[] = []
  private readonly admitted = new Set<ChildProcess>()
  /** In the order of their turn. */
  private readonly free = new Set<ChildProcess>()
  private readonly onTheWay = new Map<ChildProcess, Socket>()
  private readonly server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => {})
    this.wait(socket, false)
  })

  /** Resolves with where it listens. */
  async open(port: number, host: string): Promise<string> {
    const listening = once(this.server.listen({ port, host, backlog: BACKLOG }), 'listening')
    await listening.catch(rethrowListenError)
    return urlOf(this.server, host)
  }

  /** From now on this worker is handed connections, in turn with the others, until it ends. */
  admit(worker: ChildProcess): void {
    this.admitted.add(worker)
    this.free.add(worker)
    // NOTE: all that it said has been heard by then; `disconnect` waits for the dead one's word.
    worker.once('close', () => this.gone(worker))
    this.handOut()
  }

  /** It has what it was handed, and has not read from it yet. */
  taken(worker: ChildProcess): void {
    // The worker's own end stays open.
    this.onTheWay.get(worker)?.destroy()
    this.onTheWay.delete(worker)
    if (this.admitted.has(worker)) this.free.add(worker)
    this.handOut()
  }

  /** It takes no more. The port is closed with the last one. */
  dismiss(worker: ChildProcess): void {
    this.admitted.delete(worker)
    this.free.delete(worker)
    if (this.admitted.size === 0) this.close()
  }

  /** Closes the port, and whatever no worker has taken. */
  close(): void {
    this.server.close()
    for (const { socket, late } of this.waiting.splice(0)) {
      clearTimeout(late)
      socket.destroy()
    }
  }

  private wait(socket: Socket, isFirst: boolean): void {
    const late = setTimeout(() => {
      this.waiting.splice(this.waiting.indexOf(guest), 1)
      socket.destroy()
    }, WAIT_MS)
    const guest: Guest = { socket, late }
    if (isFirst) this.waiting.unshift(guest)
    else this.waiting.push(guest)
    this.handOut()
  }

  private handOut(): void {
    for (const worker of this.free) {
      const guest = this.waiting.shift()
      if (guest === undefined) return
      clearTimeout(guest.late)
      this.free.delete(worker)
      this.onTheWay.set(worker, guest.socket)
      // What can't be sent comes back once the worker is gone.
      worker.send(CONNECTION, guest.socket, { keepOpen: true }, () => {})
    }
  }

  private gone(worker: ChildProcess): void {
    this.admitted.delete(worker)
    this.free.delete(worker)
    const socket = this.onTheWay.get(worker)
    this.onTheWay.delete(worker)
    if (socket !== undefined) this.wait(socket, true)
  }
}

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
