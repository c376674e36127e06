import { channelsIn, type Offer, offerOf } from '#domain/routing/offer.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/openai-chat/chat-request.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import type { Caller } from './authenticate.ts'
import { denialOfPayment } from './can-pay.ts'
import type { Exchange } from './exchange.ts'
import { type CallPlan, isValid } from './plan-call.ts'
import type { RelayDeps } from './relay-deps.ts'

type Deps = Pick<RelayDeps, 'actors' | 'counter' | 'now'>

/** An offer lasts until a channel changes, so that a short call costs one look-up. */
const LEAST = new WeakMap<Offer<RelayChannel>, number>()

/**
 * The channels whose own bound on a call's input this one keeps; a error when it is too long for
 * all of them, or when its account would not admit it anyway: nothing is counted for callers who
 * can't pay. What can't be too long by its bytes is not counted either; the rest is, in a thread.
 */
export function fitInput(
  deps: Deps,
  exchange: Exchange,
  caller: Caller,
  request: ChatRequest,
  plan: CallPlan,
): Offer<RelayChannel> | Promise<Offer<RelayChannel> | RelayError> {
  const { offer } = plan
  if (request.inputBound.tokens <= leastOf(offer)) return offer
  return counted(deps, exchange, caller, request, plan)
}

async function counted(
  deps: Deps,
  exchange: Exchange,
  caller: Caller,
  request: ChatRequest,
  plan: CallPlan,
): Promise<Offer<RelayChannel> | RelayError> {
  const { counter, now } = deps
  const { offer } = plan
  const unpayable = await denialOfPayment(deps, exchange, caller, request, plan)
  if (unpayable !== null) return unpayable
  const counts = counter.of(caller.user.userId)
  const { input } = await counts.count({ requestBody: request.body, text: '' })
  const valid = [...channelsIn(offer)].filter(({ terms }) => isValid(terms, now()))
  const fit = valid.filter(({ terms }) => input <= boundOf(terms))
  if (fit.length === valid.length) return offer
  if (fit.length > 0) return offerOf(fit)
  const most = Math.max(...valid.map(({ terms }) => boundOf(terms)))
  return relayError('context_length_exceeded', { param: 'messages', subject: `${most}` })
}

/** Calls within it fit every channel. */
function leastOf(offer: Offer<RelayChannel>): number {
  const known = LEAST.get(offer)
  if (known !== undefined) return known
  let least = Number.POSITIVE_INFINITY
  for (const { terms } of channelsIn(offer)) least = Math.min(least, boundOf(terms))
  LEAST.set(offer, least)
  return least
}

/** 0 stands for no bound. */
const boundOf = ({ maxInputTokens }: RelayChannel['terms']): number =>
  maxInputTokens > 0 ? maxInputTokens : Number.POSITIVE_INFINITY
