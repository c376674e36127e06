import { isDenial } from '#relay/canonical/denial.ts'
import { type ChatRequest, readChatRequest } from '#relay/dialects/openai-chat/chat-request.ts'
import { admit } from './admit.ts'
import { authenticate, type Caller } from './authenticate.ts'
import { autoDisable } from './auto-disable.ts'
import type { CallBooks } from './call-books.ts'
import type { AttemptEnd } from './call-upstream.ts'
import { isRetryable } from './choose-channel.ts'
import { claimCall, type KeyedCall } from './claim-call.ts'
import { type Exchange, sendDenial } from './exchange.ts'
import { LiveCall } from './live-call.ts'
import { type CallPlan, type Candidate, candidateOf, planCall } from './plan-call.ts'
import { readBody } from './read-body.ts'
import type { RelayParts } from './relay-parts.ts'
import { concludeFailure, concludePlain, concludeStream } from './settle.ts'
import { type CallOutcome, takeSeat } from './take-seat.ts'

/**
 * One chat completion, from its key to its last byte. Every branch of the pipeline is in this
 * file; the steps it calls know nothing of each other.
 */
export async function relayCall(parts: RelayParts, exchange: Exchange): Promise<void> {
  const { request: incoming, clientIp, startedAt } = exchange
  const caller = await authenticate(parts, incoming, clientIp, startedAt)
  if (isDenial(caller)) return sendDenial(exchange, caller)
  const body = await readBody(incoming, parts.bodies)
  if (isDenial(body)) return sendDenial(exchange, body)
  try {
    const request = readChatRequest(body)
    if (isDenial(request)) return sendDenial(exchange, request)
    const plan = planCall(parts.views, caller, request, parts.now())
    if (isDenial(plan)) return sendDenial(exchange, plan)
    const seat = await takeSeat(parts, caller, request)
    if (isDenial(seat)) return sendDenial(exchange, seat)
    let outcome: CallOutcome = NOTHING
    try {
      const keyed = await claimCall(parts, exchange, caller, body)
      if (keyed !== null && isDenial(keyed)) return sendDenial(exchange, keyed)
      outcome = await carry(parts, exchange, caller, { request, plan, keyed })
    } finally {
      seat.leave(outcome)
    }
  } finally {
    parts.bodies.giveBack(body.length)
  }
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
  const { pingIntervalMs } = parts.views.options.options
  const { deadlines, now, outbound } = parts
  const call = new LiveCall(
    { deadlines, now, pingIntervalMs, poolFor: outbound.poolFor },
    exchange,
    request,
    books,
  )
  parts.live.add(call)
  parts.watch.add(call)
  try {
    const last = await tryChannels(parts, exchange, call, {
      request,
      channels: plan.channels,
      isPinned: caller.pinnedChannelId !== null,
    })
    const isSuccess = await conclude(parts, exchange, call, books, last)
    return { isSuccess, tokens: call.tokens }
  } finally {
    parts.live.delete(call)
    // Left to the next tick, finished calls would live through several collections of garbage.
    if (call.isOver()) parts.watch.remove(call)
  }
}

type Route = Pick<CallPlan, 'channels'> & {
  readonly request: ChatRequest
  readonly isPinned: boolean
}
type LastTry = { readonly candidate: Candidate; readonly end: AttemptEnd }

/** Each channel at most once, until one answers or something reached the caller. */
async function tryChannels(
  parts: RelayParts,
  { call: callId }: Exchange,
  call: LiveCall,
  { channels, request, isPinned }: Route,
): Promise<LastTry | null> {
  const triesMax = isPinned ? 1 : 1 + parts.views.options.options.retryTimes
  let last: LastTry | null = null
  for (const channel of parts.cooling.last(channels, parts.now())) {
    if (call.isCallerGone || call.attempts.length >= triesMax || call.isOutOfTime(parts.now()))
      break
    const candidate = candidateOf(channel, request)
    if (isDenial(candidate)) continue
    const isRetry = last !== null
    if (isRetry && !parts.retries.enter(parts.live.size)) break
    const end = await call.tryAt(candidate)
    if (isRetry) parts.retries.leave()
    last = { candidate, end }
    if (end.kind !== 'failed') break
    parts.cooling.note(channel.channelId, end.retryAfterMs, parts.now())
    autoDisable(parts, channel, end, callId)
    if (!isRetryable(end)) break
  }
  return last
}

function conclude(
  parts: RelayParts,
  exchange: Exchange,
  call: LiveCall,
  books: CallBooks,
  last: LastTry | null,
): Promise<boolean> {
  const closing = { parts, exchange, call, books }
  if (last === null) return concludeFailure(closing, null, null)
  const { candidate, end } = last
  if (end.kind === 'plain') return concludePlain(closing, candidate, end.body)
  if (end.kind === 'streamed') return concludeStream(closing, candidate, end)
  return concludeFailure(closing, candidate, end)
}
