import type { IncomingMessage } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { serve } from '#test/support/start-http-server.ts'

/** Worked case 6 of the prices: 16 750 with a ratio of 2.5, 4, 8 and 2. */
export const USAGE = {
  total_tokens: 650,
  input_tokens: 300,
  output_tokens: 350,
  input_token_details: {
    ...{ text_tokens: 100, audio_tokens: 200, image_tokens: 0, cached_tokens: 0 },
    cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 50, audio_tokens: 300 },
}
export const CHARGE = 16_750

export type RealtimeEvent = Record<string, unknown> & { readonly type: string }

/** One session of the provider. */
export class ProviderSession {
  readonly events: RealtimeEvent[] = []
  readonly request: IncomingMessage
  readonly socket: WebSocket
  isClosed = false
  private session: Record<string, unknown>
  private responses = 0

  constructor(socket: WebSocket, request: IncomingMessage, provider: RealtimeProvider) {
    this.socket = socket
    this.request = request
    const url = new URL(request.url ?? '', 'http://provider')
    const named = url.searchParams.get('model') ?? url.searchParams.get('deployment')
    const model = provider.model ?? named
    const described = { object: 'realtime.session', instructions: 'Hi.', ...provider.settings }
    this.session = { id: 'sess_1', model, ...described }
    this.send({ type: 'session.created', session: this.session })
    socket.on('close', () => {
      this.isClosed = true
    })
    socket.on('message', (data) => {
      const event = JSON.parse(String(data)) as RealtimeEvent
      this.events.push(event)
      if (provider.onEvent?.(event, this) !== true) this.answer(event, provider)
    })
  }

  send(event: object): void {
    this.socket.send(JSON.stringify({ event_id: 'event_1', ...event }))
  }

  answer({ type, session, response }: RealtimeEvent, provider: RealtimeProvider): void {
    if (type === 'session.update') {
      this.session = { ...this.session, ...(session as object) }
      this.send({ type: 'session.updated', session: this.session })
    }
    if (type === 'response.create') {
      const { conversation } = (response ?? {}) as { readonly conversation?: string }
      this.respond(provider.usage, conversation === 'none')
    }
  }

  /** Begins a response. Returns its id. */
  begin(isOutside = false): string {
    this.responses += 1
    const id = `resp_${this.responses}`
    const conversation_id = isOutside ? null : 'conv_1'
    const response = { id, object: 'realtime.response', status: 'in_progress', conversation_id }
    this.send({ type: 'response.created', response })
    return id
  }

  delta(id: string, delta = 'Hello!'): void {
    this.send({ type: 'response.output_text.delta', response_id: id, delta })
  }

  done(id: string, usage: unknown, status = 'completed'): void {
    this.send({ type: 'response.done', response: { id, status, usage } })
  }

  respond(usage: unknown, isOutside = false): void {
    const id = this.begin(isOutside)
    this.delta(id)
    this.done(id, usage)
  }

  typesOf(prefix: string): string[] {
    return this.events.map(({ type }) => type).filter((type) => type.startsWith(prefix))
  }
}

export type RealtimeProvider = {
  readonly url: string
  readonly sessions: ProviderSession[]
  usage: unknown
  /** The model that sessions name; null for the requested one. */
  model: string | null
  /** Settings that sessions have in addition when they begin. */
  settings: object
  /** The status with which upgrades are refused; null to accept them. */
  refuses: number | null
  /** The body of the response that refuses an upgrade. */
  refusal: string
  /** Returns true if it has answered the event. */
  onEvent: ((event: RealtimeEvent, session: ProviderSession) => boolean) | null
  readonly close: () => Promise<void>
}

/** A provider of the Realtime API that answers each request for a response with `usage`. */
export async function realtimeProvider(): Promise<RealtimeProvider> {
  const sockets = new WebSocketServer({ noServer: true })
  sockets.on('headers', (headers) => headers.push('x-request-id: req-of-session'))
  const server = await serve(
    (_request, response) => response.writeHead(404).end(),
    (request, socket, head) => {
      socket.on('error', () => {})
      if (provider.refuses !== null) {
        const { refuses, refusal } = provider
        const length = `content-length: ${Buffer.byteLength(refusal)}`
        socket.end(`HTTP/1.1 ${refuses} Refused\r\n${length}\r\n\r\n${refusal}`)
        return
      }
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        webSocket.on('error', () => {})
        provider.sessions.push(new ProviderSession(webSocket, request, provider))
      })
    },
  )
  const provider: RealtimeProvider = {
    ...{ url: server.url, sessions: [], usage: USAGE, model: null, refuses: null, refusal: '' },
    settings: {},
    onEvent: null,
    close: async () => {
      for (const client of sockets.clients) client.terminate()
      await server.close()
    },
  }
  return provider
}
