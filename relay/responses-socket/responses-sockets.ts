import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { closeSocketOnException } from '#infra/http/close-socket-on-exception.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { RESPONSES_ERRORS } from '../dialects/openai-responses/response-errors.ts'
import { BODIES_BYTES_MAX, BODY_BYTES_MAX, type BodyMemoryShare } from '../limits/body-memory.ts'
import { authenticate, type Caller } from '../pipeline/authenticate.ts'
import { errorOfException } from '../pipeline/error-of-exception.ts'
import { type Exchange, sendError } from '../pipeline/http-exchange.ts'
import type { CallRequest, CallResponse } from '../pipeline/http-request-and-response-types.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { bodyShareOf } from '../pipeline/user-share-of-body-memory.ts'
import { warmUpError, warmUpEvents } from './answer-warm-up.ts'
import { OutputCollector } from './collect-response-output.ts'
import { IdleConversations } from './drop-idle-conversations.ts'
import { requestOf, responseOver, responseToUpgrade } from './message-as-http-exchange.ts'
import {
  type ClientMessage,
  type ConversationState,
  type InputItems,
  readMessage,
  withoutSurroundings,
} from './read-client-message.ts'
import { MessageRate, SocketMemory } from './socket-memory-and-message-rate.ts'

const SOCKETS_MAX = 2_000
const SOCKETS_PER_USER_MAX = 200
const PING_MS = 30_000
/** The time without a call after which a socket is closed. The client can open another one. */
const IDLE_MS = 10 * 60_000
/** The maximum lifetime of a socket. OpenAI has the same maximum, so clients expect it. */
const LIFETIME_MS = 60 * 60_000
/** The maximum number of messages that may wait for the end of a call. */
const QUEUED_MAX = 4
/** The maximum number of bytes of error events that a client may leave unread. */
const UNREAD_BYTES_MAX = 1024 * 1024

/** The maximum number of bytes of the conversations on all sockets without a running call. */
const IDLE_BYTES_MAX = BODIES_BYTES_MAX / 8
const IDLE_BYTES_PER_USER_MAX = BODIES_BYTES_MAX / 16

const NORMAL = 1000
const UNSUPPORTED_DATA = 1003
const POLICY_VIOLATION = 1008
const INTERNAL_ERROR = 1011
const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013

type Options = {
  readonly deps: RelayDeps
  readonly openExchange: (request: CallRequest, response: CallResponse) => Exchange
  /** Executes a call of the Responses API. The response ends or is destroyed in any case. */
  readonly run: (exchange: Exchange) => void
  readonly isDraining: () => boolean
  /** Returns the error with which the relay refuses all requests now, or null. */
  readonly refusalOf: (request: CallRequest) => RelayError | null
}

/**
 * The websockets of `GET /v1/responses`, on which clients such as Codex make one call at a time.
 */
export type ResponsesSockets = {
  /** Opens a socket, or responds to the upgrade request with an error. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Closes sockets without a call now, others when their call ends or `drained` resolves. */
  readonly closeDuring: (drained: Promise<void>) => Promise<void>
  readonly close: () => void
}

/** Creates the websocket server. The server also closes sockets whose client does not respond. */
export function createResponsesSockets(options: Options): ResponsesSockets {
  const open = new Set<ResponsesSocket>()
  const idle = new IdleConversations(IDLE_BYTES_MAX, IDLE_BYTES_PER_USER_MAX)
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: BODY_BYTES_MAX,
    // Compressed messages would need memory before their length is known.
    perMessageDeflate: false,
  })
  const ticking = setInterval(() => {
    for (const each of open) each.tick(performance.now())
  }, PING_MS).unref()
  const close = (): void => {
    clearInterval(ticking)
    for (const each of open) each.terminate()
  }
  return {
    upgrade: (request, socket, head) => {
      const response = responseToUpgrade(request)
      const exchange = options.openExchange(request, response)
      socket.on('error', ignoreError)
      const accepting = ownerOf(options, open, request, exchange)
      accepting.then(
        (owner) => {
          if (isRelayError(owner)) return sendError(exchange, owner)
          // The client may have disconnected during the checks.
          if (socket.destroyed) return
          response.detachSocket(request.socket)
          socket.off('error', ignoreError)
          server.handleUpgrade(request, socket, head, (webSocket) => {
            const each = new ResponsesSocket(options, idle, webSocket, request, owner)
            open.add(each)
            webSocket.on('close', () => open.delete(each))
          })
        },
        (err: unknown) =>
          sendError(exchange, errorOfException(options.deps.log, exchange.call, err)),
      )
    },
    closeDuring: async (drained) => {
      for (const each of open) each.closeIfIdle(SERVICE_RESTART, 'restarting')
      await drained
      close()
    },
    close,
  }
}

/** A listener for connection errors during the checks, which would otherwise end the process. */
const ignoreError = (): void => {}

/** Checks an upgrade request. Returns the user whose memory limit applies, or an error. */
async function ownerOf(
  { deps, refusalOf }: Options,
  open: ReadonlySet<ResponsesSocket>,
  request: IncomingMessage,
  { clientIp, startedAt }: Exchange,
): Promise<BodyMemoryShare | RelayError> {
  if (request.url?.split('?')[0] !== '/v1/responses') return relayError('not_found')
  const refusal = refusalOf(request)
  if (refusal !== null) return refusal
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return caller
  return limitError(open, caller) ?? bodyShareOf(deps, caller.user.userId, request)
}

/** Returns an error if this user or all users have too many open sockets, and otherwise null. */
function limitError(open: ReadonlySet<ResponsesSocket>, { user }: Caller): RelayError | null {
  if (open.size >= SOCKETS_MAX) return relayError('overloaded', { retryAfter: 5 })
  let ofUser = 0
  for (const { userId } of open) if (userId === user.userId) ofUser += 1
  if (ofUser < SOCKETS_PER_USER_MAX) return null
  return relayError('too_many_concurrent', {
    subject: `${SOCKETS_PER_USER_MAX} sockets (this user)`,
  })
}

type Call = Extract<ClientMessage, { readonly kind: 'call' }>

class ResponsesSocket {
  private readonly options: Options
  private readonly idle: IdleConversations
  private readonly socket: WebSocket
  private readonly upgrade: IncomingMessage
  private readonly owner: BodyMemoryShare
  private readonly memory: SocketMemory
  private readonly openedAt = performance.now()
  private activeAt = performance.now()
  private isAlive = true
  private isEnded = false
  /** The number of bytes that have arrived since the last complete message. */
  private arrivedBytes = 0
  private arrivedAt = 0
  private isWatched = false
  private readonly queue: Buffer[] = []
  private state: ConversationState | null = null
  private response: CallResponse | null = null
  /** The input items of a warm-up that is still being checked; null if there is none. */
  private warmingUp: InputItems | null = null
  private readonly rate = new MessageRate()

  constructor(
    options: Options,
    idle: IdleConversations,
    socket: WebSocket,
    upgrade: IncomingMessage,
    owner: BodyMemoryShare,
  ) {
    this.options = options
    this.idle = idle
    this.socket = socket
    this.upgrade = upgrade
    this.owner = owner
    this.memory = new SocketMemory(options.deps.bodyMemory, owner)
    // Without this listener, a message that is too long would cause an uncaught error.
    socket.on('error', () => socket.terminate())
    socket.on('close', () => this.end())
    socket.on('pong', () => {
      this.isAlive = true
    })
    for (const control of ['ping', 'pong'] as const) {
      socket.on(control, (data: Buffer) => this.discount(data.length))
    }
    // The bytes of a message are counted before the message itself arrives.
    upgrade.socket.prependListener('data', (chunk: Buffer) => this.count(chunk.length))
    socket.on('message', (data, isBinary) => this.receive(data as Buffer, isBinary))
  }

  get userId(): number {
    return this.owner.userId
  }

  private get isBusy(): boolean {
    return this.response !== null || this.warmingUp !== null
  }

  tick(now: number): void {
    if (!this.isAlive) return this.socket.terminate()
    this.isAlive = false
    this.socket.ping()
    if (now - this.openedAt > LIFETIME_MS) this.endLifetime()
    else if (now - this.activeAt > IDLE_MS) this.closeIfIdle(NORMAL, 'idle')
  }

  closeIfIdle(code: number, reason: string): void {
    if (!this.isBusy) this.socket.close(code, reason)
  }

  terminate(): void {
    this.socket.terminate()
  }

  private endLifetime(): void {
    if (this.isBusy) return
    const minutes = LIFETIME_MS / 60_000
    const code = 'websocket_connection_limit_reached'
    const message = `A socket is open for at most ${minutes} minutes. Open another one.`
    this.sendEvent({ type: 'error', status: 400, error: { type: INVALID, code, message } })
    this.socket.close(NORMAL, 'lifetime')
  }

  /** Reserves memory for a message while it arrives. Ends the socket if too little is left. */
  private count(bytes: number): void {
    this.arrivedBytes += bytes
    this.arrivedAt = performance.now()
    if (!this.resize()) this.endWithoutMemory()
    else if (!this.isWatched) {
      this.isWatched = true
      this.options.deps.timer.add({ onTick: (now) => this.watchMessage(now) })
    }
  }

  /** Ends the socket if no more bytes of an incomplete message arrive in time. */
  private watchMessage(now: number): boolean {
    const isIncomplete = !this.isEnded && this.arrivedBytes > 0
    const isStalled = now - this.arrivedAt > this.options.deps.deadlines.uploadStallMs
    this.isWatched = isIncomplete && !isStalled
    if (isIncomplete && isStalled) {
      this.socket.close(POLICY_VIOLATION, 'incomplete message')
      this.socket.terminate()
    }
    return this.isWatched
  }

  /** Ends the connection without reading more messages, which would need more memory. */
  private endWithoutMemory(): void {
    this.socket.close(TRY_AGAIN_LATER, 'too much memory')
    this.socket.terminate()
  }

  /** Subtracts the bytes of a ping or pong, including the frame's head of at most 14 bytes. */
  private discount(bytes: number): void {
    this.arrivedBytes = Math.max(0, this.arrivedBytes - bytes - 14)
  }

  private resize(): boolean {
    // A call may end after its socket. The memory of the socket was then released already.
    if (this.isEnded) return true
    const queued = this.queue.reduce((sum, { length }) => sum + length, 0)
    const kept = (this.state?.items.json.length ?? 0) + (this.warmingUp?.json.length ?? 0)
    return this.memory.resize(this.arrivedBytes + queued + kept)
  }

  private receive(data: Buffer, isBinary: boolean): void {
    this.arrivedBytes = 0
    this.activeAt = performance.now()
    if (isBinary) return this.socket.close(UNSUPPORTED_DATA, 'text expected')
    if (this.rate.isExceeded(this.activeAt) || this.queue.length === QUEUED_MAX) {
      return this.socket.close(POLICY_VIOLATION, 'too many messages')
    }
    this.queue.push(data)
    if (!this.resize()) return this.endWithoutMemory()
    this.next()
  }

  /** Handles the waiting messages until one of them begins a call. */
  private next(): void {
    while (!this.isBusy && this.socket.readyState === this.socket.OPEN) {
      const data = this.queue.shift()
      if (data === undefined) break
      closeSocketOnException(this.options.deps.log, this.socket, () => this.answer(data))
    }
    this.resize()
  }

  private answer(data: Buffer): void {
    const message = readMessage(data, this.state)
    if (isRelayError(message)) return this.sendError(message)
    if (message.kind === 'warm-up') return this.warmUp(message.model, message.items)
    if (message.kind === 'call') this.call(message)
  }

  /** Answers a warm-up, which generates nothing, costs nothing and is not sent to a provider. */
  private warmUp(model: string, items: InputItems): void {
    this.warmingUp = items
    const { deps, openExchange } = this.options
    const exchange = openExchange(
      this.upgrade,
      responseOver(this.socket, () => {}),
    )
    warmUpError(deps, exchange, model).then(
      (error) => this.endWarmUp(model, items, error),
      (err: unknown) =>
        this.endWarmUp(model, items, errorOfException(deps.log, exchange.call, err)),
    )
  }

  private endWarmUp(model: string, items: InputItems, refusal: RelayError | null): void {
    this.warmingUp = null
    if (this.isEnded) return
    const [id, events] = warmUpEvents(model)
    const error = refusal ?? (this.keep({ id, items }) ? null : NO_MEMORY)
    if (error !== null) this.sendError(error)
    else for (const event of events) this.sendEvent(event)
    this.continue()
  }

  private call({ body, items, insertedItems }: Call): void {
    const inputBytes = Math.min(items?.json.length ?? BODY_BYTES_MAX, BODY_BYTES_MAX)
    const output = new OutputCollector(BODY_BYTES_MAX - inputBytes)
    const response = responseOver(this.socket, (data) => output.add(data))
    this.response = response
    this.idle.remove(this)
    response.on('close', () => {
      this.response = null
      this.activeAt = performance.now()
      // A destroyed response sends no last event, so the client would wait for it forever.
      if (!response.writableFinished) return this.socket.close(INTERNAL_ERROR, 'call ended')
      const state = output.stateAfter(items)
      if (state !== null && !this.keep(state)) this.state = null
      if (state === null && this.state !== null) this.keep(this.state)
      this.continue()
    })
    const exchange = this.options.openExchange(requestOf(this.upgrade, body), response)
    this.options.run({ ...exchange, insertedItems })
  }

  /** Handles the next messages after the end of a call or of a warm-up. */
  private continue(): void {
    if (this.options.isDraining()) return this.socket.close(SERVICE_RESTART, 'restarting')
    this.next()
  }

  /**
   * Stores the conversation until the next call, and may drop other conversations for it. Returns
   * false if the conversation is too long or too little memory is left.
   */
  private keep({ id, items }: ConversationState): boolean {
    const before = this.state
    this.state = { id, items: withoutSurroundings(items) }
    if (this.resize()) {
      this.idle.add(this, this.userId, items.json.length)
      return this.state !== null
    }
    this.state = before
    return false
  }

  /** Drops the conversation. Later messages can continue it only if its response is stored. */
  dropConversation(): void {
    this.state = null
    this.resize()
  }

  private sendError(error: RelayError): void {
    const { status, body } = RESPONSES_ERRORS.errorBody(error, 'en', '')
    this.sendEvent({ type: 'error', status, ...body })
  }

  private sendEvent(event: object): void {
    if (this.socket.bufferedAmount > UNREAD_BYTES_MAX) return this.socket.terminate()
    this.socket.send(JSON.stringify(event))
  }

  /** Called once the socket has closed. A running call ends as if the caller had disconnected. */
  private end(): void {
    this.isEnded = true
    this.queue.length = 0
    this.state = null
    this.idle.remove(this)
    this.memory.resize(0)
    this.response?.destroy()
  }
}

const INVALID = 'invalid_request_error'
const NO_MEMORY = relayError('overloaded', { retryAfter: 2 })
