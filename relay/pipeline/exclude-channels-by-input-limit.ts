import {
  channelsIn,
  type Offer,
  offerOf,
  oncePerOffer,
} from '#domain/routing/channels-by-group-and-model.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import { isUnexpired } from '../views/channel-expiry.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import type { Caller } from './authenticate.ts'
import { checkPlanIsPayable } from './check-account-can-pay.ts'
import { combineAlternatives, isNotEmpty } from './combine-alternatives.ts'
import { isWorthCounting, lowestTerms } from './hold-after-token-count.ts'
import { CALLER_GONE, type Exchange, isCallerGone } from './http-exchange.ts'
import type { CallPlan } from './plan-call-for-one-model-and-group.ts'
import type { RelayDeps } from './relay-deps.ts'

type Deps = Pick<RelayDeps, 'actors' | 'counter' | 'now' | 'views'>

/**
 * Returns the plan with only those channels whose input limit is sufficient. Returns an error if
 * the input is too long for every channel or the account can't pay. If the request may be too long
 * for a channel, its tokens are counted in another thread.
 */
export function excludeChannelsByInputLimit(
  deps: Deps,
  exchange: Exchange,
  caller: Caller,
  request: ChatRequest,
  plan: CallPlan,
): CallPlan | Promise<CallPlan | RelayError> {
  const { offer, alternatives } = plan
  const offers = alternatives === undefined ? [offer] : alternatives.map((each) => each.offer)
  if (offers.every((each) => request.inputBound.tokens <= lowestInputLimit(each))) return plan
  return excludeByTokenCount(deps, exchange, caller, request, plan)
}

async function excludeByTokenCount(
  deps: Deps,
  exchange: Exchange,
  caller: Caller,
  request: ChatRequest,
  plan: CallPlan,
): Promise<CallPlan | RelayError> {
  const { counter, now, views } = deps
  const unpayable = await checkPlanIsPayable(deps, exchange, caller, request, plan, (one) =>
    isWorthCounting(request, one) ? lowestTerms(views.options, one) : one.terms,
  )
  if (unpayable !== null) return unpayable
  const counts = counter.of(caller.user.userId)
  const { body: requestBody, format } = request
  const isInputOnly = format.hasTextlessAnswers === true
  const { input } = await counts.count({ requestBody, text: '', isInputOnly })
  if (isCallerGone(exchange)) return CALLER_GONE
  const accepting = <T extends Pick<CallPlan, 'offer'>>(each: T): T => ({
    ...each,
    offer: channelsAccepting(each.offer, input, now()),
  })
  const { alternatives } = plan
  if (alternatives === undefined) {
    const fit = accepting(plan)
    if (fit.offer.length > 0) return fit
  } else {
    const left = alternatives.map(accepting).filter(({ offer }) => offer.length > 0)
    // The hold is computed again, because it need not cover the alternatives that are left out.
    if (isNotEmpty(left)) return combineAlternatives(left, caller, views.options.options)
  }
  const all = (alternatives ?? [plan]).flatMap((each) => unexpiredIn(each.offer, now()))
  const most = Math.max(...all.map(({ terms }) => inputLimitOf(terms)))
  const param = request.format.promptMember ?? 'messages'
  return relayError('context_length_exceeded', { param, subject: `${most}` })
}

const unexpiredIn = (offer: Offer<RelayChannel>, now: number): readonly RelayChannel[] =>
  [...channelsIn(offer)].filter(({ terms }) => isUnexpired(terms, now))

/** Returns the channels of the offer that accept the number of input tokens. */
function channelsAccepting(
  offer: Offer<RelayChannel>,
  input: number,
  now: number,
): Offer<RelayChannel> {
  const valid = unexpiredIn(offer, now)
  const fit = valid.filter(({ terms }) => input <= inputLimitOf(terms))
  return fit.length === valid.length ? offer : offerOf(fit)
}

/**
 * Returns the lowest input limit of the offer's channels. Every channel accepts an input within
 * this limit.
 */
const lowestInputLimit = oncePerOffer((offer: Offer<RelayChannel>): number =>
  channelsIn(offer).reduce(
    (lowest, { terms }) => Math.min(lowest, inputLimitOf(terms)),
    Number.POSITIVE_INFINITY,
  ),
)

/** Returns the channel's input limit in tokens. A stored limit of 0 means no limit. */
const inputLimitOf = ({ maxInputTokens }: RelayChannel['terms']): number =>
  maxInputTokens > 0 ? maxInputTokens : Number.POSITIVE_INFINITY
