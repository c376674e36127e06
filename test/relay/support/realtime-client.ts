import { expect } from 'vitest'
import { WebSocket } from 'ws'
import type { RealtimeEvent } from './realtime-provider.ts'
import { KEY } from './relay-rig.ts'

type Options = {
  readonly headers?: Record<string, string>
  readonly protocols?: readonly string[]
  readonly query?: string
}

/** A client of `GET /v1/realtime`. */
export class RealtimeClient {
  readonly socket: WebSocket
  readonly events: RealtimeEvent[] = []
  closed: { readonly code: number } | null = null
  /** The answer to a request that was refused. */
  refused: { readonly status: number; readonly body: string } | null = null

  constructor(url: string, model: string, { headers, protocols, query = '' }: Options = {}) {
    const path = `/v1/realtime?model=${encodeURIComponent(model)}${query}`
    const authorization = { authorization: `Bearer sk-${KEY}` }
    this.socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, [...(protocols ?? [])], {
      headers: headers ?? authorization,
    })
    this.socket.on('error', () => {})
    this.socket.on('message', (data) => this.events.push(JSON.parse(String(data))))
    this.socket.on('close', (code) => {
      this.closed = { code }
    })
    this.socket.on('unexpected-response', (_request, response) => {
      let body = ''
      response.on('data', (part: Buffer) => {
        body += part
      })
      response.on('end', () => {
        this.refused = { status: response.statusCode ?? 0, body }
      })
    })
  }

  /** Waits for the first event of the session. */
  async open(): Promise<this> {
    await this.event('session.created')
    return this
  }

  send(event: object): void {
    this.socket.send(JSON.stringify(event))
  }

  /** Waits for an event of this type, and removes it together with all earlier ones. */
  async event(type: string): Promise<RealtimeEvent> {
    const at = () => this.events.findIndex((event) => event.type === type)
    await expect.poll(at).not.toBe(-1)
    const found = this.events[at()] as RealtimeEvent
    this.events.splice(0, at() + 1)
    return found
  }

  async isClosed(): Promise<number> {
    await expect.poll(() => this.closed).not.toBe(null)
    return this.closed?.code ?? 0
  }
}
