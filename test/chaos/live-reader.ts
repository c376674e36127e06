import { WebSocket } from 'ws'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'

/** A client of the live log that reconnects and continues after the last received position. */
export class LiveReader {
  /** The number of received rows by call. */
  readonly rows = new Map<string, number>()
  resyncs = 0
  reconnects = -1
  readonly #console: ConsoleClient
  #position: number | null = null
  #socket: WebSocket | null = null
  #isOver = false

  constructor(console: ConsoleClient) {
    this.#console = console
  }

  /** Connects. Resolves when the server sends `ready` for the first time. */
  start(): Promise<void> {
    return new Promise((ready) => this.#open(ready))
  }

  /** Breaks the connection, as a network failure would. */
  cut(): void {
    this.#socket?.terminate()
  }

  stop(): void {
    this.#isOver = true
    this.#socket?.terminate()
  }

  #open(onReady: () => void): void {
    if (this.#isOver) return
    const { url, sessionHeaders } = this.#console
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/live`, {
      headers: { ...sessionHeaders, origin: url },
    })
    this.#socket = socket
    this.reconnects += 1
    const after = this.#position === null ? {} : { after: this.#position }
    socket.on('open', () => {
      socket.send(JSON.stringify({ type: 'subscribe', topics: ['logs'], ...after }))
    })
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(() => this.#open(onReady), 100))
    socket.on('message', (bytes) => this.#take(JSON.parse(String(bytes)), onReady))
  }

  #take(message: Message, onReady: () => void): void {
    if (message.position !== undefined) {
      this.#position = Math.max(this.#position ?? 0, message.position)
    }
    if (message.type === 'ready') onReady()
    if (message.type === 'resync') this.resyncs += 1
    const call = message.data?.request_id
    if (message.type === 'event' && call) this.rows.set(call, (this.rows.get(call) ?? 0) + 1)
  }
}

type Message = {
  readonly type: string
  readonly position?: number
  readonly data?: { readonly request_id?: string }
}
