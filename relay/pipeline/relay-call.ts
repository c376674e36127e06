import { type Denial, deny, isDenial } from '#relay/canonical/denial.ts'
import { outcomeOf } from '#relay/channel-health/outcome.ts'
import { type ChatRequest, readChatRequest } from '#relay/dialects/openai-chat/chat-request.ts'
import { reserialised } from '#relay/dialects/reserialised.ts'
import { type AnswerScreen, answerScreen } from '#relay/screening/answer-screen.ts'
import { screenPrompt } from '#relay/screening/screen-prompt.ts'
import type { RelayKey } from '#relay/views/channel-view.ts'
import { accessCheck } from './access-check.ts'
import { admit } from './admit.ts'
import { authenticate, type Caller } from './authenticate.ts'
import { chatBodyOwnerOf } from './body-owner.ts'
import type { AttemptEnd } from './call-upstream.ts'
import { ChannelTurns, isRetryable } from './choose-channel.ts'
import { claimCall, type KeyedCall } from './claim-call.ts'
import { type Exchange, sendDenial, showDropped } from './exchange.ts'
import { fitInput } from './fit-input.ts'
import { LiveCall } from './live-call.ts'
import { OutputAllowance } from './output-allowance.ts'
import { type CallPlan, type Candidate, candidateOf, planCall } from './plan-call.ts'
import { readBody } from './read-body.ts'
import { refuseUpload } from './refuse-upload.ts'
import type { RelayParts } from './relay-parts.ts'
import {
  type Closing,
  concludeAbandoned,
  concludeFailure,
  concludePlain,
  concludeStream,
} from './settle.ts'
import { type CallOutcome, takeSeat } from './take-seat.ts'

/** How a caller comes in: known by the head of the request, and what the body says of it. */
export type Door = {
  readonly callerOf: (parts: RelayParts, exchange: Exchange) => Promise<Caller | Denial>
  readonly open: (
    caller: Caller,
    body: Buffer,
  ) => { readonly caller: Caller; readonly body: Buffer } | Denial
}

/** By a key; the body is all the provider's. */
const BY_KEY: Door = {
  callerOf: (parts, { request, clientIp, startedAt }) =>
    authenticate(parts, request, clientIp, startedAt),
  open: (caller, body) => ({ caller, body }),
}

/**
 * One chat completion, from its door to its last byte. Every branch of the pipeline is in this
 * file; the steps it calls know nothing of each other.
 */
export async function relayCall(
  parts: RelayParts,
  exchange: Exchange,
  door: Door = BY_KEY,
): Promise<void> {
  const known = await door.callerOf(parts, exchange)
  if (isDenial(known)) return sendDenial(exchange, known)
  const owner = await chatBodyOwnerOf(parts, known, exchange.request)
  if (isDenial(owner)) return refuseUpload(exchange, owner)
  const came = await readBody(exchange.request, parts.bodies, owner)
  if (isDenial(came)) return refuseUpload(exchange, came)
  try {
    const opened = door.open(known, came)
    if (isDenial(opened)) return sendDenial(exchange, opened)
    const { caller, body } = opened
    const request = readRequest(parts, body)
    if (isDenial(request)) return sendDenial(exchange, request)
    const plan = planCall(parts.views, caller, request, parts.now())
    if (isDenial(plan)) return sendDenial(exchange, plan)
    const { screening } = parts.views.options.options
    const looking = screenPrompt(screening, caller.group, body)
    const unfit = looking === null ? null : await looking
    if (unfit !== null) return sendDenial(exchange, unfit)
    const seat = await takeSeat(parts, caller, request)
    if (isDenial(seat)) return sendDenial(exchange, seat)
    let outcome: CallOutcome = NOTHING
    try {
      const fitting = fitInput(parts, exchange, caller, request, plan)
      const offer = fitting instanceof Promise ? await fitting : fitting
      if (isDenial(offer)) return sendDenial(exchange, offer)
      const keyed = await claimCall(parts, exchange, caller, { work: 'chat', body: came })
      if (keyed !== null && isDenial(keyed)) return sendDenial(exchange, keyed)
      outcome = await carry(parts, exchange, caller, { request, plan: { ...plan, offer }, keyed })
    } finally {
      seat.leave(outcome)
    }
  } finally {
    parts.bodies.giveBack(came.length)
    parts.bodies.release(owner, came.length)
  }
}

/** As it came; passed through, as it was read, so that what is billed is what is sent. */
function readRequest({ views }: RelayParts, body: Buffer): ChatRequest | Denial {
  const request = readChatRequest(body)
  if (isDenial(request) || !views.options.options.isPassThrough) return request
  return readChatRequest(reserialised(body))
}

type Planned = {
  readonly request: ChatRequest
  readonly plan: CallPlan
  readonly keyed: KeyedCall | null
}

const NOTHING: CallOutcome = { isSuccess: false, tokens: 0 }

/** From the hold to the end of the books; a success when the provider answered in full. */
async function carry(
  parts: RelayParts,
  came: Exchange,
  caller: Caller,
  { request, plan, keyed }: Planned,
): Promise<CallOutcome> {
  const exchange = keyed === null ? came : { ...came, call: keyed.call }
  const books = await admit(parts, exchange, caller, request, plan, keyed)
  if (isDenial(books)) {
    sendDenial(came, books)
    return NOTHING
  }
  const { pingIntervalMs, screening } = parts.views.options.options
  const screen = answerScreen(screening, caller.group)
  const { deadlines, outbound } = parts
  const counter = parts.counter.of(caller.user.userId)
  const allowance = new OutputAllowance(plan.price, plan.terms, books.outputLimit)
  const access = accessCheck(parts, caller, exchange.clientIp)
  const call = new LiveCall(
    { deadlines, counter, pingIntervalMs, via: outbound.via, access, screen, allowance },
    exchange,
    request,
    books,
  )
  parts.live.add(call)
  parts.watch.add(call)
  try {
    const { isOverridden } = plan
    const isPinned = caller.pinnedChannelId !== null
    const turns = new ChannelTurns(parts, plan.offer, request.model, isPinned)
    const triesMax = isPinned ? 1 : 1 + parts.views.options.options.retryTimes
    const { outputLimit } = books
    const { userId } = caller.user
    const route = { turns, triesMax, request, isOverridden, outputLimit, userId }
    const last = await tryChannels(parts, exchange, call, route)
    const unserved = last === null ? unservedBy(turns, request.model) : null
    const closing = { parts, exchange, call, books, allowance, unserved }
    const isSuccess = await conclude(closing, screen, last)
    return { isSuccess, tokens: call.tokens }
  } finally {
    parts.live.delete(call)
    // Left to the next tick, finished calls would live through several collections of garbage.
    if (call.isOver()) parts.watch.remove(call)
  }
}

type Route = {
  readonly turns: ChannelTurns
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
  parts: RelayParts,
  exchange: Exchange,
  call: LiveCall,
  { turns, triesMax, request, isOverridden, outputLimit, userId }: Route,
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
    const turn = turns.next()
    const channel = turn instanceof Promise ? await turn : turn
    if (channel === null) break
    const candidate = candidateOf(channel, request, isOverridden, outputLimit)
    const choosing = isDenial(candidate) ? null : parts.keys.choose(channel, used)
    const chosen = choosing instanceof Promise ? await choosing : choosing
    const isRetry = last !== null
    const isUnfit = isDenial(candidate) || chosen === null
    if (isUnfit || (isRetry && !parts.retries.enter(parts.live.size))) {
      turns.end(true)
      if (isUnfit) continue
      break
    }
    const { key } = chosen
    noteDropped(parts, exchange, candidate)
    const end = await call.tryAt(candidate, key)
    if (isRetry) parts.retries.leave()
    turns.end(false)
    last = { candidate, end }
    const probes = [...turns.probes, ...chosen.probes]
    const tried = { channel, keyRef: key.keyRef, model: request.model, probes }
    parts.breaker.note({ ...tried, call: exchange.call }, end)
    const told = { channel, key, call: exchange.call, userId, requestBody: candidate.body }
    if (parts.autoDisable.note(told, end)) call.blameAccount()
    if (end.kind !== 'failed' || !isRetryable(end)) break
    // Whoever tried a circuit for all others is not the one to suffer for it.
    if (probes.length === 0) triesLeft -= 1
    if (channel.keys.length > 1 && isOfKey(end)) {
      used = new Set([...used, key])
      turns.again()
    }
  }
  return last
}

function noteDropped({ log }: RelayParts, exchange: Exchange, { channel, dropped }: Candidate) {
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
function unservedBy({ fullMs }: ChannelTurns, subject: string): Denial {
  if (fullMs === 0) return deny('no_channel', { param: 'model', subject, retryAfterSeconds: 10 })
  const retryAfterSeconds = Math.max(1, Math.ceil(fullMs / 1_000))
  return deny('channels_busy', { param: 'model', subject, retryAfterSeconds })
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
