import { WebSocket } from 'ws'
import { priceOf } from '#domain/pricing/price-list.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { type Offer, offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import { ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import type { Views } from '#relay/views/start-views.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import { type Caller, groupOfCaller } from '../pipeline/authenticate.ts'
import { ChannelSelector } from '../pipeline/channel-selector.ts'
import { accountErrorOf } from '../pipeline/detect-provider-account-error.ts'
import { type CallErrorAnswer, callErrorAnswer } from '../pipeline/failed-call-answer.ts'
import type { Exchange } from '../pipeline/http-exchange.ts'
import {
  accessError,
  errorOfUnofferedModel,
  groupError,
  priceError,
} from '../pipeline/model-access-errors.ts'
import { requestIdHeaderIn, retryAfterOf } from '../pipeline/read-retry-delay-and-request-id.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { isRetryable } from '../pipeline/retryable-failures.ts'
import { noUsableChannelError } from '../pipeline/try-channels-in-order.ts'
import {
  authorizedCall,
  endpointOf,
  type ProviderTarget,
  providerCall,
} from '../providers/profiles/provider-target.ts'
import { hasUnexpiredChannel } from '../views/channel-expiry.ts'
import { type RelayChannel, type RelayKey, serves } from '../views/channel-view.ts'
import { upstreamModelOf } from '../views/parse-channel-rules.ts'
import { SessionEvidence } from './provider-evidence-of-session.ts'

export type RealtimePlan = {
  readonly price: PriceSnapshot
  readonly offer: Offer<RelayChannel>
}

/**
 * Returns the error if the caller of a session may not use the model, the group of the session or
 * the group of the token; otherwise null. The group of the token is `auto` if the session uses one
 * of the groups of `auto`.
 */
export function sessionAccessError(
  caller: Caller,
  options: RelayOptions,
  model: string,
): RelayError | null {
  const { token, user } = caller
  const group = groupOfCaller(token, user)
  return accessError(caller, options, { model }) ?? groupError({ group, user }, options)
}

/**
 * Determines the price of a session's responses and the channels that may serve the session.
 * Returns the error for the caller if the caller may not use the model, or if there is no price or
 * no channel.
 */
export function planRealtime(
  { channels, options: view }: Views,
  caller: Caller,
  model: string,
  now: number,
): RealtimePlan | RelayError {
  const error = sessionAccessError(caller, view.options, model)
  if (error !== null) return error
  const { group, pinnedChannelId } = caller
  const pinned = pinnedChannelId === null ? undefined : channels.find(pinnedChannelId)
  const isFit = pinned?.isEnabled === true && serves(pinned, 'realtime', model)
  const ofPin = isFit ? offerOf([pinned]) : []
  const offer =
    pinnedChannelId === null ? channels.offeringCalls(group, model, 'realtime', now) : ofPin
  const misplaced =
    offer.length === 0 ? errorOfUnofferedModel({ channels }, caller, model, 'realtime') : null
  if (misplaced !== null) return misplaced
  const price = priceFor({ options: view }, caller, model)
  if ('code' in price) return price
  return hasUnexpiredChannel(offer, now)
    ? { price, offer }
    : relayError('no_channel', { param: 'model', subject: model, retryAfter: 10 })
}

/**
 * Determines the price of the next response of a session that is open on a channel. Returns the
 * error for the caller if there is no price, or if the channel or its key is no longer available.
 */
export function planResponse(
  views: Views,
  caller: Caller,
  model: string,
  now: number,
  { channel, keyRef }: { readonly channel: RelayChannel; readonly keyRef: string },
): RealtimePlan | RelayError {
  const { pinnedChannelId, user } = caller
  // Only admins may name a channel, and the user may have lost this role since the session began.
  if (pinnedChannelId !== null && user.role < ADMIN) return relayError('channel_not_allowed')
  const plan = planRealtime(views, caller, model, now)
  if ('code' in plan) return plan
  const isOffered = plan.offer.some(({ channels }) =>
    channels.some(
      ({ channelId, keys }) =>
        channelId === channel.channelId && keys.some((key) => key.keyRef === keyRef),
    ),
  )
  return isOffered
    ? plan
    : relayError('no_channel', { param: 'model', subject: model, retryAfter: 10 })
}

export function priceFor(
  { options: { prices } }: Pick<Views, 'options'>,
  { user, group }: Caller,
  model: string,
): PriceSnapshot | RelayError {
  const acceptsUnpriced = user.settings.acceptUnsetModelRatioModel
  const price = priceOf(prices, model, group, { userGroup: user.group, acceptsUnpriced })
  return 'code' in price ? priceError(price, group, model) : price
}

/** The websocket connection of a session to a provider. */
export type Upstream = {
  readonly socket: WebSocket
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly upstreamModel: string | null
  readonly evidence: SessionEvidence
  /** Gives back this session's place in the channel's limit of concurrent calls. */
  readonly release: () => void
}

export type UpstreamRequest = {
  readonly model: string
  readonly isBeta: boolean
  /**
   * The caller's request. The log and the circuit breaker use its call id for the connection, and a
   * provider's error is shown in its format.
   */
  readonly exchange: Pick<Exchange, 'call' | 'errors'>
}

/**
 * The maximum length of a provider's event in bytes. An item of a conversation may contain minutes
 * of audio.
 */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024
const ERROR_BYTES_MAX = 64 * 1024
const NO_KEYS: ReadonlySet<RelayKey> = new Set()
const NOTHING = Buffer.alloc(0)

/**
 * Tries channels in their order until one accepts the session. Makes at most `1 + retryTimes`
 * attempts, or one if the caller has named the channel. If a provider rejects a key or its account,
 * its channel may be tried again with another key. Returns the connection, or the error for the
 * caller: that of the last provider, as for a call, or the gateway's own.
 */
export async function openUpstream(
  deps: RelayDeps,
  caller: Caller,
  { offer }: RealtimePlan,
  request: UpstreamRequest,
): Promise<Upstream | RelayError | CallErrorAnswer> {
  const isPinned = caller.pinnedChannelId !== null
  const selector = new ChannelSelector(deps, offer, request.model, isPinned)
  let opened: Upstream | RelayError | CallErrorAnswer | null = null
  try {
    opened = await connectInTurn(deps, caller, selector, request)
    return opened
  } finally {
    // After an exception, the channel's permit would otherwise be held until the process ends. An
    // open connection keeps its permit until `release` is called.
    if (opened === null || !('socket' in opened)) selector.end(true)
  }
}

async function connectInTurn(
  deps: RelayDeps,
  caller: Caller,
  selector: ChannelSelector,
  request: UpstreamRequest,
): Promise<Upstream | RelayError | CallErrorAnswer> {
  const { model, exchange } = request
  const { call } = exchange
  const isPinned = caller.pinnedChannelId !== null
  const { options } = deps.views.options
  let triesLeft = isPinned ? 1 : 1 + options.retryTimes
  let used = NO_KEYS
  let answer: CallErrorAnswer | null = null
  while (triesLeft > 0) {
    const channel = await selector.next()
    if (channel === null) break
    const choice = await deps.keySelector.choose(channel, used)
    if (choice === null) {
      selector.end(true)
      continue
    }
    const { key } = choice
    const outcome = await connect(deps, channel, key.target, request)
    const end = 'socket' in outcome ? CONNECTED : outcome
    const probes = [...selector.probes, ...choice.probes]
    deps.breaker.note({ channel, keyRef: key.keyRef, model, probes, call }, end)
    const { userId } = caller.user
    deps.autoDisable.note({ channel, key, call, userId, requestBody: NOTHING }, end)
    if ('socket' in outcome) {
      const release = () => selector.end(false)
      const { socket, requestId } = outcome
      const evidence = new SessionEvidence(key.target, requestId)
      return { socket, channel, key, release, evidence, upstreamModel: nameAt(channel, model) }
    }
    selector.end(false)
    answer = answerTo(outcome, channel, request, options.isUpstreamErrorHidden)
    if (!isRetryable(outcome, true)) break
    triesLeft -= 1
    if (channel.keys.length > 1 && accountErrorOf(outcome) !== null) {
      used = new Set([...used, key])
      selector.retryWithAnotherKey()
    }
  }
  return answer ?? noUsableChannelError(selector, model)
}

/**
 * An open connection. `requestId` is the provider's id of the upgrade request, or null if the
 * provider sent none.
 */
type Connected = { readonly socket: WebSocket; readonly requestId: string | null }
type Failed = Extract<AttemptEnd, { readonly kind: 'failed' }>

const CONNECTED: AttemptEnd = { kind: 'streamed', status: 200, error: null }
const FAILED = { kind: 'failed', body: NOTHING, retryAfterMs: 0 } as const

/**
 * Returns the answer for the caller if this provider was the last one. A session has the errors of
 * the caller's format, because OpenAI's and Azure's API are the only ones with sessions.
 */
function answerTo(
  end: Failed,
  channel: RelayChannel,
  { model, exchange: { call, errors } }: UpstreamRequest,
  isHidden: boolean,
): CallErrorAnswer {
  const request = { isStream: true, format: { errors } }
  const failed = { channel, conversion: null, upstreamModel: nameAt(channel, model), request }
  const context = { isHidden, isCallerGone: false, unserved: null, errors, call }
  return callErrorAnswer(failed, end, context)
}

/** Returns the provider's name for the model, or null if it is the same as the caller's name. */
function nameAt({ terms, rules }: RelayChannel, model: string): string | null {
  const name = upstreamModelOf(terms, rules, model)
  return name === model ? null : name
}

async function connect(
  deps: RelayDeps,
  channel: RelayChannel,
  target: ProviderTarget,
  { model, isBeta }: UpstreamRequest,
): Promise<Connected | Failed> {
  const name = upstreamModelOf(channel.terms, channel.rules, model)
  const connections = deps.outbound.via(target.proxy)
  const path = { model: name, isStream: false }
  const call = providerCall(target, 'realtime', path, { headers: [], body: NOTHING })
  try {
    const { origin, headers } = await authorizedCall(target, call, connections)
    const betaPath = isBeta ? endpointOf(target, 'realtime', name)?.betaPath : undefined
    const at = betaPath?.replace('{model}', () => encodeURIComponent(name)) ?? call.path
    const connection = await connections.connect(origin)
    // A connection through a proxy is paused when it opens. If the provider uses TLS, the
    // connection already has TLS, so the URL of the websocket is `ws:`.
    connection.resume()
    const url = `ws://${new URL(origin).host}${at}`
    const sent = { ...upgradeHeaders(headers), ...(isBeta ? { 'openai-beta': 'realtime=v1' } : {}) }
    const socket = new WebSocket(url, {
      createConnection: (() => connection) as never,
      headers: sent,
      handshakeTimeout: deps.deadlines.firstEventMs,
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
      followRedirects: false,
    })
    return await opened(socket)
  } catch (error) {
    const { code } = error as { readonly code?: string }
    if (code === 'UND_ERR_CONNECT_TIMEOUT') return { ...FAILED, status: null, error: 'timeout' }
    const isProxy = code === 'PROXY_FAILED'
    const failed = { ...FAILED, status: null, error: 'connect' } as const
    return isProxy ? { ...failed, isProxy } : failed
  }
}

function upgradeHeaders(list: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = list[at] ?? ''
    if (name !== 'content-type' && name !== 'accept-encoding') headers[name] = list[at + 1] ?? ''
  }
  return headers
}

/**
 * Waits for the provider's response to the websocket upgrade. Reading is then paused until the
 * session reads the provider's events.
 */
function opened(socket: WebSocket): Promise<Connected | Failed> {
  return new Promise((resolve) => {
    let requestId: string | null = null
    socket.on('upgrade', ({ headers }) => {
      requestId = requestIdHeaderIn(headers)
    })
    socket.on('open', () => {
      socket.pause()
      resolve({ socket, requestId })
    })
    socket.on('error', () => resolve({ ...FAILED, status: null, error: 'connect' }))
    socket.on('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 502
      const retryAfterMs = retryAfterOf(response.headers['retry-after'], Date.now())
      const parts: Buffer[] = []
      let length = 0
      const end = () => {
        socket.terminate()
        resolve({ ...FAILED, status, error: 'status', body: Buffer.concat(parts), retryAfterMs })
      }
      response.on('data', (part: Buffer) => {
        length += part.length
        if (length <= ERROR_BYTES_MAX) parts.push(part)
        else response.destroy()
      })
      response.on('close', end).on('error', end).on('end', end)
      response.setTimeout(5_000, () => response.destroy())
    })
  })
}
