import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http'
import { Readable, Writable } from 'node:stream'
import type { WebSocket } from 'ws'
import { jsonOrEmpty, objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import { EVENT_BOUNDARY, eventData } from '../canonical/sse-scanner.ts'
import type { CallRequest, CallResponse } from '../pipeline/http-request-and-response-types.ts'

/**
 * Matches the headers of an upgrade request that do not apply to calls on the socket. Most of these
 * headers describe the connection or the body, and `Idempotency-Key` concerns a single call.
 */
const OF_UPGRADE = /^(?:connection|upgrade|sec-websocket-.*|content-.*|idempotency-key)$/

/** Converts a message of a socket to the HTTP request that makes the same call. */
export function requestOf(upgrade: CallRequest, body: Buffer): CallRequest {
  const headers: IncomingHttpHeaders = {}
  for (const name in upgrade.headers) {
    if (!OF_UPGRADE.test(name)) headers[name] = upgrade.headers[name]
  }
  headers['content-type'] = 'application/json'
  headers['content-length'] = `${body.length}`
  const { url, socket } = upgrade
  return Object.assign(Readable.from([body], { objectMode: false }), {
    ...{ method: 'POST', url, headers, socket },
    // The complete body is in memory.
    complete: true,
  })
}

/**
 * Returns an HTTP response object that sends what is written to it over a socket. Each event of a
 * stream becomes one message, and an error becomes one `error` event. `onEvent` receives the data
 * of each event before it is sent.
 */
export const responseOver = (socket: WebSocket, onEvent: (data: string) => void): CallResponse =>
  new SocketResponse(socket, onEvent)

const NO_HEADERS: ReadonlySet<string> = new Set([
  ...['content-type', 'content-length', 'access-control-allow-origin'],
  'access-control-expose-headers',
])

/**
 * The response headers that list the members of the request that were not sent. Their values are
 * put into an event, because messages have no headers.
 */
const LOSS_HEADERS = ['x-conversion-loss', 'x-dropped-members']
/**
 * The maximum length of an event that is parsed. A longer event is sent unchanged, because parsing
 * it would block the event loop.
 */
const PARSED_LENGTH_MAX = 1024 * 1024

type Done = (error?: Error | null) => void

/**
 * Passes an exception of `send` to `done`. For example, an event may be nested too deeply to be
 * serialized. An exception would end the process, because Node may call `_write` from a callback.
 */
function orFail(done: Done, send: () => void): void {
  try {
    send()
  } catch (error) {
    done(error instanceof Error ? error : new Error('the message could not be sent'))
  }
}

class SocketResponse extends Writable implements CallResponse {
  private statusCode = 0
  headersSent = false
  shouldKeepAlive = true
  /** False, because messages on a socket need no chunked encoding. */
  readonly useChunkedEncodingByDefault = false
  readonly sendsOnlyEvents = true
  chunkedEncoding = false
  private readonly socket: WebSocket
  private readonly onEvent: (data: string) => void
  private readonly headers = new Map<string, string>()
  private isStream = false
  private hasBegun = false
  private readonly parts: Buffer[] = []

  constructor(socket: WebSocket, onEvent: (data: string) => void) {
    super()
    this.socket = socket
    this.onEvent = onEvent
    // If sending fails, the socket closes next, and its end destroys this response. The error
    // itself is ignored.
    this.on('error', () => {})
  }

  setHeader(name: string, value: string): void {
    this.headers.set(name.toLowerCase(), value)
  }

  hasHeader(name: string): boolean {
    return this.headers.has(name.toLowerCase())
  }

  getHeaderNames(): string[] {
    return [...this.headers.keys()]
  }

  removeHeader(name: string): void {
    this.headers.delete(name.toLowerCase())
  }

  writeHead(status: number, headers: readonly string[]): void {
    this.statusCode = status
    this.headersSent = true
    for (let at = 0; at + 1 < headers.length; at += 2) {
      this.setHeader(headers[at] ?? '', headers[at + 1] ?? '')
    }
    this.isStream = this.headers.get('content-type')?.startsWith('text/event-stream') === true
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    if (this.isStream) return orFail(done, () => this.sendEvents(chunk.toString('utf8'), done))
    this.parts.push(chunk)
    done()
  }

  /** Sends the body of an error. All other responses are streams. */
  override _final(done: Done): void {
    if (this.isStream) return done()
    orFail(done, () => this.sendBody(done))
  }

  private sendBody(done: Done): void {
    const body = Buffer.concat(this.parts)
    const { error } = JSON.parse(body.toString('utf8')) as { readonly error: object }
    const headers = [...this.headers].filter(([name]) => !NO_HEADERS.has(name))
    const status = this.statusCode
    const event = { type: 'error', status, error, headers: Object.fromEntries(headers) }
    this.send([JSON.stringify(event)], done)
  }

  /**
   * Sends events as messages. `events` contains only complete events, because the pipeline of calls
   * writes no others. Comments and `[DONE]` are not sent.
   */
  private sendEvents(events: string, done: Done): void {
    const messages: string[] = []
    for (const event of events.split(EVENT_BOUNDARY)) {
      const data = eventData(event)
      if (data?.startsWith('{') === true) messages.push(this.withLosses(data))
    }
    this.send(messages, done)
  }

  /**
   * Adds the values of `LOSS_HEADERS` to the `metadata` of the first event, `response.created`.
   * Clients accept any text there, but might reject an additional event of a type that they don't
   * know.
   */
  private withLosses(data: string): string {
    if (this.hasBegun) return data
    this.hasBegun = true
    const losses = [...this.headers].filter(([name]) => LOSS_HEADERS.includes(name))
    if (losses.length === 0 || data.length > PARSED_LENGTH_MAX) return data
    const event = parsedObject(data)
    const response = objectOf(event?.response)
    if (event?.type !== 'response.created' || response === null) return data
    const metadata = { ...objectOf(response.metadata), ...Object.fromEntries(losses) }
    // An event that is nested too deeply can't be serialized again. It is sent unchanged.
    return jsonOrEmpty({ ...event, response: { ...response, metadata } }) || data
  }

  private send(messages: readonly string[], done: Done): void {
    const last = messages.length - 1
    if (last < 0) return done()
    for (const [at, data] of messages.entries()) {
      this.onEvent(data)
      // The next write waits until the last message was sent, so that a slow client pauses the
      // call.
      if (at === last) this.socket.send(data, (error) => done(error))
      else this.socket.send(data)
    }
  }
}

/**
 * Returns an HTTP response that is written to the raw connection of an upgrade request. The
 * response is used to refuse the upgrade.
 */
export function responseToUpgrade(request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(request.socket)
  response.on('finish', () => request.socket.destroySoon())
  return response
}
