import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import { EVENT_BYTES_MAX } from '#relay/canonical/sse-scanner.ts'
import type { Transport } from '../provider-access-and-decoder-types.ts'
import { closeFrame, FrameReader, type ReceivedFrame, textFrame } from './websocket-frames.ts'

type Handler = Dispatcher.DispatchHandler
type Controller = Dispatcher.DispatchController

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const NO_TRAILERS = {}

/**
 * Patterns that recognize the last message and errors. Both end the call, even if the provider
 * keeps the connection open. If the first message is an error, the provider is treated as having
 * refused the call.
 */
type MessagePatterns = { readonly last: RegExp; readonly error: RegExp }

/**
 * Sends each call as the only message of a new websocket. The provider's messages are returned as
 * server-sent events. The websocket is opened by the connection pool, so that the same outbound
 * policy and proxy apply as to all other calls. A response that refuses the websocket is returned
 * unchanged.
 */
export const websocketTransport = (
  { poolFor }: Connections,
  origin: string,
  messages: MessagePatterns,
): Transport => ({
  dispatch: ({ path, headers, body }, handler) => {
    const key = randomBytes(16).toString('base64')
    const upgrade = [
      ...withoutBodyHeaders(headers as readonly string[]),
      ...['sec-websocket-key', key, 'sec-websocket-version', '13'],
    ]
    const call = new WebsocketCall(handler, body as Buffer, key, messages)
    return poolFor(origin).dispatch(
      { method: 'GET', path, headers: upgrade, upgrade: 'websocket' },
      call,
    )
  },
})

/**
 * Returns the headers without the content type, because the request for a websocket has no body.
 */
const withoutBodyHeaders = (headers: readonly string[]): readonly string[] =>
  headers.filter((_, at) => headers[at - (at % 2)] !== 'content-type')

/**
 * Carries one call. For the handler, the call looks like an HTTP call whose answer is a stream of
 * events.
 */
class WebsocketCall implements Handler {
  private readonly handler: Handler
  private readonly body: Buffer
  private readonly key: string
  private readonly messages: MessagePatterns
  private readonly frames = new FrameReader(EVENT_BYTES_MAX)
  private socket: Duplex | null = null
  private hasBegun = false
  private isEnded = false

  constructor(handler: Handler, body: Buffer, key: string, messages: MessagePatterns) {
    this.messages = messages
    this.handler = handler
    this.body = body
    this.key = key
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.handler.onRequestStart?.(controller, context)
  }

  onRequestUpgrade(
    { rawHeaders = [], rawTrailers = [] }: Controller,
    _status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    socket: Duplex,
  ): void {
    this.socket = socket
    const control = this.controllerOf(socket, { rawHeaders, rawTrailers })
    // The handler gets `control`, because from now on only this controller can end the connection.
    this.handler.onRequestStart?.(control, {})
    if (this.isEnded) return
    socket.on('error', () => this.end(control))
    socket.on('close', () => this.end(control))
    const accepted = createHash('sha1').update(`${this.key}${GUID}`).digest('base64')
    if (headers['sec-websocket-accept'] !== accepted) return void socket.destroy()
    socket.on('data', (chunk: Buffer) => this.receive(control, chunk))
    socket.write(textFrame(this.body))
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: Record<string, string | string[]>,
    message?: string,
  ): void {
    this.handler.onResponseStart?.(controller, status, headers, message)
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: Controller, trailers: Record<string, string | string[]>): void {
    this.handler.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Controller, error: Error): void {
    this.handler.onResponseError?.(controller, error)
  }

  private receive(control: Controller, chunk: Buffer): void {
    if (this.isEnded) return
    let received: readonly ReceivedFrame[]
    try {
      received = this.frames.push(chunk)
    } catch {
      return void this.socket?.destroy()
    }
    for (const frame of received) {
      if (this.isEnded) return
      if (frame.kind === 'reply') this.socket?.write(frame.frame)
      else if (frame.kind === 'close') this.socket?.end(closeFrame())
      else this.passOn(control, frame.text.toString('utf8'))
    }
  }

  private passOn(control: Controller, text: string): void {
    const { error, last } = this.messages
    const isError = error.test(text)
    const isRefused = isError && !this.hasBegun
    const type = isRefused ? 'application/json' : 'text/event-stream'
    if (!this.hasBegun) {
      this.hasBegun = true
      this.handler.onResponseStart?.(control, 200, { 'content-type': type }, 'OK')
    }
    const bytes = isRefused ? Buffer.from(text) : eventOf(text)
    this.handler.onResponseData?.(control, bytes)
    if (this.isEnded || !(isError || last.test(text))) return
    this.socket?.end(closeFrame())
    this.end(control)
  }

  private end(control: Controller): void {
    if (this.isEnded) return
    this.isEnded = true
    if (this.hasBegun) this.handler.onResponseEnd?.(control, NO_TRAILERS)
    else this.handler.onResponseError?.(control, new Error('the websocket was closed'))
  }

  private controllerOf(
    socket: Duplex,
    raw: Pick<Controller, 'rawHeaders' | 'rawTrailers'>,
  ): Controller {
    let reason: Error | null = null
    return {
      ...raw,
      get aborted() {
        return reason !== null
      },
      get reason() {
        return reason
      },
      get paused() {
        return socket.isPaused()
      },
      pause: () => void socket.pause(),
      resume: () => void socket.resume(),
      abort: (error: Error) => {
        if (reason !== null) return
        reason = error
        this.isEnded = true
        socket.destroy()
        this.handler.onResponseError?.(this.controllerOf(socket, raw), error)
      },
    }
  }
}

/**
 * Returns a JSON message as a server-sent event. Line breaks between JSON tokens are replaced by
 * spaces, because a line break would end the line of the event.
 */
const eventOf = (text: string): Buffer =>
  Buffer.from(`data: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`)
