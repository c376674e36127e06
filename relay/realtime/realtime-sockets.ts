import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { BodyMemoryShare } from '../limits/body-memory.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { checkAccountCanPay } from '../pipeline/check-account-can-pay.ts'
import { errorOfException } from '../pipeline/error-of-exception.ts'
import { type CallErrorAnswer, sendCallError } from '../pipeline/failed-call-answer.ts'
import { type Exchange, sendError } from '../pipeline/http-exchange.ts'
import type { CallRequest, CallResponse } from '../pipeline/http-request-and-response-types.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { bodyShareOf } from '../pipeline/user-share-of-body-memory.ts'
import {
  requestOf,
  responseOver,
  responseToUpgrade,
} from '../responses-socket/message-as-http-exchange.ts'
import { SocketMemory } from '../responses-socket/socket-memory-and-message-rate.ts'
import { authenticateSession, REALTIME_PROTOCOL } from './authenticate-session.ts'
import type { CallContext } from './call-of-session.ts'
import { CallerOfSession } from './caller-of-session.ts'
import { openUpstream, planRealtime, type Upstream } from './plan-and-connect-session.ts'
import { RealtimeSession } from './realtime-session.ts'
import type { SessionSettings } from './session-settings.ts'

/**
 * The maximum length of a caller's event in bytes. It is lower than OpenAI's limit (15 MiB), so
 * that no caller can make the provider close a connection.
 */
const CALLERS_MESSAGE_BYTES_MAX = 12 * 1024 * 1024
const SOCKETS_MAX = 1_000
const SOCKETS_PER_USER_MAX = 200
const PING_MS = 30_000
/** The maximum duration of a session. OpenAI has the same maximum. */
const LIFETIME_MS = 60 * 60_000
/** The time after which a session ends if the caller sends no event and no response is running. */
const IDLE_MS = 15 * 60_000
const MESSAGES_PER_SECOND_MAX = 2_000
/**
 * The maximum time for which a shutdown waits, after the grace period, until the last responses are
 * charged.
 */
const SETTLE_MS = 8_000

const POLICY_VIOLATION = 1008
const UNSUPPORTED_DATA = 1003
const TRY_AGAIN_LATER = 1013

export type RealtimeOptions = {
  readonly deps: RelayDeps
  readonly openExchange: (request: CallRequest, response: CallResponse) => Exchange
  /**
   * Returns the error with which the relay refuses all requests for sessions now, for example
   * during a shutdown, or null.
   */
  readonly refusalOf: (request: CallRequest) => RelayError | null
}

/** Accepts and manages the websockets of `GET /v1/realtime`. */
export type RealtimeSockets = {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /**
   * Ends idle sessions now, and all others when their response has ended, at the latest after
   * `graceMs`.
   */
  readonly drain: (graceMs: number) => Promise<void>
  readonly close: () => void
}

/** A request for a session that was accepted, and the connection to the provider. */
type Opening = {
  readonly caller: Caller
  readonly model: string
  readonly isBeta: boolean
  readonly settings: SessionSettings | null
  readonly owner: BodyMemoryShare
  readonly upstream: Upstream
}

export function createRealtimeSockets(options: RealtimeOptions): RealtimeSockets {
  const open = new Set<RealtimeSocket>()
  /** The number of sockets of each user, including those that are being opened. */
  const counts = new Map<number, number>()
  const server = new WebSocketServer({
    ...{ noServer: true, clientTracking: false, maxPayload: CALLERS_MESSAGE_BYTES_MAX },
    ...{ perMessageDeflate: false },
    handleProtocols: (offered) => (offered.has(REALTIME_PROTOCOL) ? REALTIME_PROTOCOL : false),
  })
  const ticking = setInterval(() => {
    for (const each of open) each.tick(performance.now())
  }, PING_MS).unref()
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const response = responseToUpgrade(request)
    const exchange = options.openExchange(request, response)
    socket.on('error', ignoreError)
    const accept = (opening: Opening): void => {
      response.detachSocket(request.socket)
      socket.off('error', ignoreError)
      let isAccepted = false
      const addId = (headers: string[]): void => void headers.push(`X-Request-Id: ${exchange.call}`)
      server.on('headers', addId)
      server.handleUpgrade(request, socket, head, (webSocket) => {
        isAccepted = true
        const each = new RealtimeSocket(options, webSocket, request, exchange, opening)
        open.add(each)
        each.session.ended.then(() => {
          open.delete(each)
          changeCount(counts, opening.caller.user.userId, -1)
        })
      })
      server.off('headers', addId)
      // The websocket library has refused the request, because the request lacks a header of the
      // websocket protocol.
      if (isAccepted) return
      closeUpstream(opening.upstream)
      changeCount(counts, opening.caller.user.userId, -1)
    }
    openSession(options, counts, exchange).then(
      (opening) => {
        if ('upstream' in opening) accept(opening)
        else if (isRelayError(opening)) sendError(exchange, opening)
        else sendCallError(exchange, opening)
      },
      (err: unknown) => sendError(exchange, errorOfException(options.deps.log, exchange.call, err)),
    )
  }
  const close = (): void => {
    clearInterval(ticking)
    for (const each of open) each.terminate()
  }
  return { upgrade, close, drain: (graceMs) => drain(open, graceMs) }
}

async function drain(open: ReadonlySet<RealtimeSocket>, graceMs: number): Promise<void> {
  const ended = Promise.all([...open].map(({ session }) => session.ended))
  for (const { session } of open) {
    session.isDraining = true
    if (!session.isBusy) void session.end(relayError('draining'), true)
  }
  await within(ended, graceMs)
  for (const { session } of open) void session.end(relayError('draining'), true)
  await within(ended, SETTLE_MS)
}

function within(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    promise.finally(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const ignoreError = (): void => {}

function closeUpstream({ socket, release }: Upstream): void {
  socket.terminate()
  release()
}

function changeCount(counts: Map<number, number>, userId: number, by: number): void {
  const count = (counts.get(userId) ?? 0) + by
  if (count > 0) counts.set(userId, count)
  else counts.delete(userId)
}

/**
 * The number of output tokens of the response for which the account must be able to pay before a
 * session is opened.
 */
const FIRST_OUTPUT_TOKENS = 256

/**
 * Checks a request for a session, and connects to a provider. Returns the error for the caller if
 * this fails.
 */
async function openSession(
  { deps, refusalOf }: RealtimeOptions,
  counts: Map<number, number>,
  exchange: Exchange,
): Promise<Opening | RelayError | CallErrorAnswer> {
  const { request } = exchange
  const refusal = refusalOf(request)
  if (refusal !== null) return refusal
  const requested = await authenticateSession(deps, exchange)
  if (isRelayError(requested)) return requested
  const { caller, model, isBeta } = requested
  const { userId } = caller.user
  const plan = planRealtime(deps.views, caller, model, deps.now())
  if (isRelayError(plan)) return plan
  const { price } = plan
  const least = { inputTokens: 0, outputTokens: FIRST_OUTPUT_TOKENS, choices: 1 }
  const terms = { hold: holdFor(price, least), reduction: null }
  const first = { model, isStream: true, choices: 1 }
  const unpaid = await checkAccountCanPay(deps, exchange, caller, first, { price, terms })
  const error = unpaid ?? limitError(counts, userId)
  if (error !== null) return error
  changeCount(counts, userId, 1)
  let isOpened = false
  try {
    const owner = await bodyShareOf(deps, userId, request)
    const upstream = await openUpstream(deps, caller, plan, { model, isBeta, exchange })
    if (!('socket' in upstream)) return upstream
    // The caller may have disconnected, or a shutdown may have begun, while the connection was
    // opened.
    const late = request.socket.destroyed ? relayError('request_incomplete') : refusalOf(request)
    isOpened = late === null
    if (late === null) return { ...requested, owner, upstream }
    closeUpstream(upstream)
    return late
  } finally {
    if (!isOpened) changeCount(counts, userId, -1)
  }
}

/**
 * Returns an error if this user or all users together have too many open sockets, and otherwise
 * null.
 */
function limitError(counts: ReadonlyMap<number, number>, userId: number): RelayError | null {
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (all >= SOCKETS_MAX) return relayError('overloaded', { retryAfter: 5 })
  if ((counts.get(userId) ?? 0) < SOCKETS_PER_USER_MAX) return null
  const subject = `${SOCKETS_PER_USER_MAX} sockets (this user)`
  return relayError('too_many_concurrent', { subject })
}

const NOTHING = Buffer.alloc(0)

/**
 * The connection of one caller. Limits the memory, the lifetime and the message rate of the
 * connection, and sends pings.
 */
class RealtimeSocket {
  readonly session: RealtimeSession
  private readonly socket: WebSocket
  private readonly memory: SocketMemory
  private readonly openedAt = performance.now()
  private activeAt = performance.now()
  private isAlive = true
  private readonly upstream: WebSocket
  private isUpstreamAlive = true
  private arrivedBytes = 0
  private queuedBytes = 0
  private second = 0
  private messagesOfSecond = 0

  constructor(
    { deps, openExchange }: RealtimeOptions,
    socket: WebSocket,
    request: IncomingMessage,
    { call, clientIp }: Exchange,
    { caller, model, isBeta, settings, owner, upstream }: Opening,
  ) {
    this.socket = socket
    this.memory = new SocketMemory(deps.bodyMemory, owner)
    const ignore = (): void => {}
    const newExchange = () =>
      openExchange(requestOf(request, NOTHING), responseOver(socket, ignore))
    const { channel, key } = upstream
    const { evidence } = upstream
    const place = { channel, keyRef: key.keyRef, evidence }
    const ofSession = new CallerOfSession(deps, caller, model, { clientIp, call })
    const context: CallContext = {
      ...{ deps, ...place, openExchange: newExchange },
      get caller() {
        return ofSession.current
      },
    }
    const onQueued = (bytes: number) => {
      this.queuedBytes = bytes
      this.resize()
    }
    const { access } = ofSession
    const of = { context, client: socket, upstream, model, isBeta, call, settings, access }
    this.session = new RealtimeSession({ ...of, onQueued })
    this.upstream = upstream.socket
    for (const event of ['pong', 'message'] as const) {
      this.upstream.on(event, () => {
        this.isUpstreamAlive = true
      })
    }
    socket.on('error', () => socket.terminate())
    socket.on('pong', () => {
      this.isAlive = true
    })
    for (const control of ['ping', 'pong'] as const) {
      // The frame of a ping or pong has at most 14 bytes in addition to its data.
      socket.on(control, ({ length }: Buffer) => {
        this.arrivedBytes = Math.max(0, this.arrivedBytes - length - 14)
      })
    }
    request.socket.on('data', (chunk: Buffer) => {
      this.arrivedBytes += chunk.length
      this.resize()
    })
    socket.on('message', (data, isBinary) => this.receive(data as Buffer, isBinary))
    const watched = deps.timer.add({
      onTick: (now) => {
        this.session.watch(now)
        return true
      },
    })
    this.session.ended.then(() => {
      deps.timer.remove(watched)
      this.arrivedBytes = 0
      this.queuedBytes = 0
      this.memory.resize(0)
    })
  }

  tick(now: number): void {
    // No pongs arrive on a paused connection, so a missing pong closes only connections that are
    // read.
    if (!this.isAlive && !this.socket.isPaused) return this.socket.terminate()
    if (!this.isUpstreamAlive && !this.upstream.isPaused) return this.upstream.terminate()
    this.isAlive = false
    this.isUpstreamAlive = false
    this.socket.ping()
    if (this.upstream.readyState === this.upstream.OPEN) this.upstream.ping()
    const isOver = now - this.openedAt > LIFETIME_MS
    if (isOver || (now - this.activeAt > IDLE_MS && !this.session.isBusy)) {
      void this.session.end(null, true)
    }
  }

  terminate(): void {
    this.socket.terminate()
  }

  private receive(data: Buffer, isBinary: boolean): void {
    this.arrivedBytes = 0
    this.activeAt = performance.now()
    if (isBinary) return this.socket.close(UNSUPPORTED_DATA, 'text expected')
    if (this.isTooFast()) return this.socket.close(POLICY_VIOLATION, 'too many messages')
    this.session.receive(data)
  }

  /**
   * Reserves memory for the bytes of a message while they arrive. Closes the connection if too
   * little memory is left, in total or for this user.
   */
  private resize(): void {
    if (this.socket.readyState !== this.socket.OPEN) return
    if (this.memory.resize(this.arrivedBytes + this.queuedBytes)) return
    this.socket.close(TRY_AGAIN_LATER, 'too much memory')
    this.socket.terminate()
  }

  private isTooFast(): boolean {
    const now = Math.floor(performance.now() / 1_000)
    if (now !== this.second) {
      this.second = now
      this.messagesOfSecond = 0
    }
    this.messagesOfSecond += 1
    return this.messagesOfSecond > MESSAGES_PER_SECOND_MAX
  }
}
