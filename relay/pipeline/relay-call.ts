import { outcomeOf } from '#relay/channel-health/outcome.ts'
import { reserialised } from '#relay/dialects/reserialised.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { type ChatRequest, readChatRequest } from '../dialects/openai-chat/chat-request.ts'
import { type AnswerScreen, answerScreen, screenPrompt } from '../screening/screening.ts'
import type { RelayKey } from '../views/channel-view.ts'
import { accessCheck } from './access-check.ts'
import { acquirePermit, type CallOutcome } from './acquire-permit.ts'
import { admit } from './admit.ts'
import { authenticate, type Caller } from './authenticate.ts'
import { chatBodyOwnerOf } from './body-owner.ts'
import type { AttemptEnd } from './call-upstream.ts'
import { ChannelSelector, isRetryable } from './choose-channel.ts'
import { claimCall, type KeyedCall } from './claim-call.ts'
import { type Exchange, sendError, showDropped } from './exchange.ts'
import { fitInput } from './fit-input.ts'
import { LiveCall } from './live-call.ts'
import { OutputAllowance } from './output-allowance.ts'
import { type CallPlan, type Candidate, candidateOf, planCall } from './plan-call.ts'
import { readBody } from './read-body.ts'
import { rejectUpload } from './reject-upload.ts'
import type { RelayDeps } from './relay-deps.ts'
import {
  type Closing,
  concludeAbandoned,
  concludeFailure,
  concludePlain,
  concludeStream,
} from './settle.ts'

/** How a caller comes in: known by the head of the request, and what the body says of it. */
export type Authenticator = {
  readonly authenticate: (deps: RelayDeps, exchange: Exchange) => Promise<Caller | RelayError>
  readonly open: (
    caller: Caller,
    body: Buffer,
  ) => { readonly caller: Caller; readonly body: Buffer } | RelayError
}

/** By a key; the body is all the provider's. */
const BY_KEY: Authenticator = {
  authenticate: (deps, { request, clientIp, startedAt }) =>
    authenticate(deps, request, clientIp, startedAt),
  open: (caller, body) => ({ caller, body }),
}

/**
 * One chat completion, from its door to its last byte. Every branch of the pipeline is in this
 * file; the steps it calls know nothing of each other.
 */
export async function relayCall(
  deps: RelayDeps,
  exchange: Exchange,
  authenticator: Authenticator = BY_KEY,
): Promise<void> {
  const known = await authenticator.authenticate(deps, exchange)
  if (isRelayError(known)) return sendError(exchange, known)
  const owner = await chatBodyOwnerOf(deps, known, exchange.request)
  if (isRelayError(owner)) return rejectUpload(exchange, owner)
  const came = await readBody(exchange.request, deps.bodies, owner)
  if (isRelayError(came)) return rejectUpload(exchange, came)
  try {
    const opened = authenticator.open(known, came)
    if (isRelayError(opened)) return sendError(exchange, opened)
    const { caller, body } = opened
    const request = readRequest(deps, body)
    if (isRelayError(request)) return sendError(exchange, request)
    const plan = planCall(deps.views, caller, request, deps.now())
    if (isRelayError(plan)) return sendError(exchange, plan)
    const { screening } = deps.views.options.options
    const looking = screenPrompt(screening, caller.group, body)
    const unfit = looking === null ? null : await looking
    if (unfit !== null) return sendError(exchange, unfit)
    const permit = await acquirePermit(deps, caller, request)
    if (isRelayError(permit)) return sendError(exchange, permit)
    let outcome: CallOutcome = NOTHING
    try {
      const fitting = fitInput(deps, exchange, caller, request, plan)
      const offer = fitting instanceof Promise ? await fitting : fitting
      if (isRelayError(offer)) return sendError(exchange, offer)
      const keyed = await claimCall(deps, exchange, caller, { work: 'chat', body: came })
      if (keyed !== null && isRelayError(keyed)) return sendError(exchange, keyed)
      outcome = await carry(deps, exchange, caller, { request, plan: { ...plan, offer }, keyed })
    } finally {
      permit.release(outcome)
    }
  } finally {
    deps.bodies.giveBack(came.length)
    deps.bodies.release(owner, came.length)
  }
}

/** As it came; passed through, as it was read, so that what is billed is what is sent. */
function readRequest({ views }: RelayDeps, body: Buffer): ChatRequest | RelayError {
  const request = readChatRequest(body)
  if (isRelayError(request) || !views.options.options.isPassThrough) return request
  return readChatRequest(reserialised(body))
}

type Planned = {
  readonly request: ChatRequest
  readonly plan: CallPlan
  readonly keyed: KeyedCall | null
}

const NOTHING: CallOutcome = { isSuccess: false, tokens: 0 }

/** From the hold to the end of the ledger; a success when the provider answered in full. */
async function carry(
  deps: RelayDeps,
  came: Exchange,
  caller: Caller,
  { request, plan, keyed }: Planned,
): Promise<CallOutcome> {
  const exchange = keyed === null ? came : { ...came, call: keyed.call }
  const ledger = await admit(deps, exchange, caller, request, plan, keyed)
  if (isRelayError(ledger)) {
    sendError(came, ledger)
    return NOTHING
  }
  const { pingIntervalMs, screening } = deps.views.options.options
  const screen = answerScreen(screening, caller.group)
  const { deadlines, outbound } = deps
  const counter = deps.counter.of(caller.user.userId)
  const allowance = new OutputAllowance(plan.price, plan.terms, ledger.outputLimit)
  const access = accessCheck(deps, caller, exchange.clientIp)
  const call = new LiveCall(
    { deadlines, counter, pingIntervalMs, via: outbound.via, access, screen, allowance },
    exchange,
    request,
    ledger,
  )
  deps.live.add(call)
  deps.watch.add(call)
  try {
    const { isOverridden } = plan
    const isPinned = caller.pinnedChannelId !== null
    const selector = new ChannelSelector(deps, plan.offer, request.model, isPinned)
    const triesMax = isPinned ? 1 : 1 + deps.views.options.options.retryTimes
    const { outputLimit } = ledger
    const { userId } = caller.user
    const route = { selector, triesMax, request, isOverridden, outputLimit, userId }
    const last = await tryChannels(deps, exchange, call, route)
    const unserved = last === null ? unservedBy(selector, request.model) : null
    const closing = { deps, exchange, call, ledger, allowance, unserved }
    const isSuccess = await conclude(closing, screen, last)
    return { isSuccess, tokens: call.tokens }
  } finally {
    deps.live.delete(call)
    // Left to the next tick, finished calls would live through several collections of garbage.
    if (call.isOver()) deps.watch.remove(call)
  }
}

type Route = {
  readonly selector: ChannelSelector
  readonly triesMax: number
  readonly isOverridden: boolean
  /** What the hold covers of the output, where that is less than was asked for. */
  readonly outputLimit: number | null
  readonly request: ChatRequest
  readonly userId: number
}
type LastTry = { readonly candidate: Candidate; readonly end: AttemptEnd }

const NO_KEYS: ReadonlySet<RelayKey> = new Set()

/**
 * Each channel at most once, until one answers or something reached the caller; again only with
 * another of its keys, where the one before was at fault.
 */
async function tryChannels(
  deps: RelayDeps,
  exchange: Exchange,
  call: LiveCall,
  { selector, triesMax, request, isOverridden, outputLimit, userId }: Route,
): Promise<LastTry | null> {
  let last: LastTry | null = null
  let triesLeft = triesMax
  let used = NO_KEYS
  while (
    triesLeft > 0 &&
    !call.isCallerGone &&
    call.revokedBy === null &&
    !call.isOutOfTime(performance.now())
  ) {
    const turn = selector.next()
    const channel = turn instanceof Promise ? await turn : turn
    if (channel === null) break
    const candidate = candidateOf(channel, request, isOverridden, outputLimit)
    const choosing = isRelayError(candidate) ? null : deps.keys.choose(channel, used)
    const chosen = choosing instanceof Promise ? await choosing : choosing
    const isRetry = last !== null
    const isUnfit = isRelayError(candidate) || chosen === null
    if (isUnfit || (isRetry && !deps.retries.enter(deps.live.size))) {
      selector.end(true)
      if (isUnfit) continue
      break
    }
    const { key } = chosen
    noteDropped(deps, exchange, candidate)
    const end = await call.tryAt(candidate, key)
    if (isRetry) deps.retries.release()
    selector.end(false)
    last = { candidate, end }
    const probes = [...selector.probes, ...chosen.probes]
    const tried = { channel, keyRef: key.keyRef, model: request.model, probes }
    deps.breaker.note({ ...tried, call: exchange.call }, end)
    const told = { channel, key, call: exchange.call, userId, requestBody: candidate.body }
    if (deps.autoDisable.note(told, end)) call.blameAccount()
    if (end.kind !== 'failed' || !isRetryable(end)) break
    // Whoever tried a circuit for all others is not the one to suffer for it.
    if (probes.length === 0) triesLeft -= 1
    if (channel.keys.length > 1 && isOfKey(end)) {
      used = new Set([...used, key])
      selector.again()
    }
  }
  return last
}

function noteDropped({ log }: RelayDeps, exchange: Exchange, { channel, dropped }: Candidate) {
  showDropped(exchange, dropped)
  if (dropped.length === 0) return
  const { channelId } = channel
  log.debug({ call: exchange.call, channelId, dropped }, 'members of a request were not sent on')
}

function isOfKey(end: AttemptEnd): boolean {
  const outcome = outcomeOf(end)
  return typeof outcome === 'object' && outcome.blame === 'key'
}

/** Every channel is full, or was taken away meanwhile. */
function unservedBy({ fullMs }: ChannelSelector, subject: string): RelayError {
  if (fullMs === 0) return relayError('no_channel', { param: 'model', subject, retryAfter: 10 })
  const retryAfter = Math.max(1, Math.ceil(fullMs / 1_000))
  return relayError('channels_busy', { param: 'model', subject, retryAfter })
}

/** Nothing of it reaches the caller, so nothing of it is charged. */
const SCREENED = {
  kind: 'failed',
  error: 'screened',
  body: Buffer.alloc(0),
  retryAfterMs: 0,
} as const

function conclude(
  closing: Closing,
  screen: AnswerScreen | null,
  last: LastTry | null,
): Promise<boolean> {
  if (last === null) return concludeFailure(closing, null, null)
  const { candidate, end } = last
  if (end.kind === 'plain') {
    if (screen === null || screen.isCleanAnswer(end.body)) {
      return concludePlain(closing, candidate, end.body)
    }
    return concludeFailure(closing, candidate, { ...end, ...SCREENED })
  }
  if (end.kind === 'streamed') return concludeStream(closing, candidate, end)
  if (end.error === 'caller-gone' && end.isDispatched) return concludeAbandoned(closing, candidate)
  return concludeFailure(closing, candidate, end)
}
