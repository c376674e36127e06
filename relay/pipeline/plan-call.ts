import type { Served } from '#domain/accounts/events.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { largestUses } from '../dialects/provider-tool-limits.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { OfferKind } from '../views/channel-view.ts'
import type { Views } from '../views/start-views.ts'
import type { Caller } from './authenticate.ts'
import { type CallTerms, termsWithin } from './compute-hold-and-output-limit.ts'
import { servingGroupsOf } from './groups-that-may-serve-call.ts'
import { accessError } from './model-access-errors.ts'
import {
  type Alternative,
  type CallPlan,
  planAlternative,
} from './plan-call-for-one-model-and-group.ts'

/** The maximum number of alternatives that are tried for one call. Each is a model with a group. */
const ALTERNATIVES_MAX = 8

/**
 * Lists the models and groups with which a call may be served, in the order in which they are
 * tried. The first alternative has the model of the request. If the call names a channel, only the
 * first alternative is returned. Fallback models that the token may not call are left out. If the
 * request refers to stored content, all fallback models are left out.
 */
function alternativesOf(
  caller: Caller,
  request: ChatRequest,
  views: Views,
): readonly { readonly caller: Caller; readonly request: ChatRequest }[] {
  const groups = servingGroupsOf(caller, views)
  const fallbacks = views.options.options.modelFallbacks.get(request.model) ?? []
  if (groups.length === 1 && groups[0] === caller.group && fallbacks.length === 0) {
    return [{ caller, request }]
  }
  const isPinned = caller.pinnedChannelId !== null
  const isBound = isPinned || request.stored !== undefined
  const { models } = caller.token
  const allowed = fallbacks.filter((name) => models === null || models.has(name))
  const requests = [request, ...(isBound ? [] : allowed).map((name) => fallbackTo(request, name))]
  const all = requests.flatMap((one) =>
    groups.map((group) => ({ caller: { ...caller, group }, request: one })),
  )
  return all.slice(0, isPinned ? 1 : ALTERNATIVES_MAX)
}

function fallbackTo({ suffix: _, ...request }: ChatRequest, model: string): ChatRequest {
  const fallback = { ...request, fallbackFor: request.model, model }
  return request.format.forModel?.(fallback) ?? fallback
}

/**
 * Combines the plans of a call's alternatives. The hold covers every alternative, because it is
 * computed from the most expensive price and the highest bounds. Returns the error of the first
 * plan if no plan is possible.
 */
function combinedPlan(
  plans: readonly (CallPlan | RelayError)[],
  alternatives: readonly { readonly caller: Caller; readonly request: ChatRequest }[],
  { group }: Pick<Caller, 'group'>,
  options: RelayOptions,
): CallPlan | RelayError {
  const fit = plans.flatMap((plan, index) => {
    const alternative = alternatives[index]
    return isRelayError(plan) || alternative === undefined ? [] : [{ plan, ...alternative }]
  })
  const [first] = fit
  if (first === undefined) {
    const [error] = plans
    if (error === undefined || !isRelayError(error)) throw new Error('a call has no alternatives')
    return error
  }
  const bounds = highestBounds(fit.map(({ plan }) => plan.terms))
  const dearest = fit.reduce((most, one) =>
    holdFor(one.plan.price, bounds) > holdFor(most.plan.price, bounds) ? one : most,
  )
  const { price } = dearest.plan
  const { request, plan } = first
  const { isStream } = request
  const isOpenEnded = fit.some(({ plan: { terms } }) => terms.isOpenEnded)
  const isLimitable = fit.every(
    ({ plan: { price: own, terms } }) =>
      own.mode === 'call' || terms.hold === 0n || terms.reduction !== null,
  )
  const admitted = { model: request.fallbackFor ?? request.model, group, price }
  return {
    ...plan,
    price,
    terms: termsWithin(price, bounds, { isStream, isOpenEnded, isLimitable }, options),
    alternatives: fit.map(({ plan: { price: own, offer }, ...one }) => ({
      request: one.request,
      group: one.caller.group,
      offer,
      served: servedAs({ model: one.request.model, group: one.caller.group, price: own }, admitted),
    })),
  }
}

const servedAs = (served: Served, admitted: Served): Served | null =>
  served.model === admitted.model &&
  served.group === admitted.group &&
  served.price === admitted.price
    ? null
    : served

function highestBounds(all: readonly CallTerms[]): CallTerms['bounds'] {
  const most = (count: (bounds: CallTerms['bounds']) => number) =>
    Math.max(...all.map(({ bounds }) => count(bounds)))
  const tools = largestUses(all.map(({ bounds }) => bounds.tools))
  return {
    inputTokens: most(({ inputTokens }) => inputTokens),
    outputTokens: most(({ outputTokens }) => outputTokens),
    choices: most(({ choices }) => choices),
    ...(tools === undefined ? {} : { tools }),
  }
}

/**
 * Reports whether the hold of a call covers an alternative. It covers every alternative, unless the
 * output limit was reduced to what the quota pays at one price, and the same output costs more at
 * the alternative's price.
 */
export function isCovered(
  { served }: Alternative,
  price: PriceSnapshot,
  { bounds }: CallTerms,
  granted: { readonly hold: Quota; readonly outputLimit: number | null },
): boolean {
  const { hold: held, outputLimit } = granted
  if (served === null || served.price === price || outputLimit === null) return true
  return holdFor(served.price, { ...bounds, outputTokens: outputLimit }) <= held
}

/**
 * Plans a call with all its alternatives. Determines its worst-case cost and the channels to which
 * it may be sent. Returns an error if the call can't be served.
 */
export function planCall(
  views: Views,
  caller: Caller,
  request: ChatRequest,
  now: number,
): CallPlan | RelayError {
  const { options } = views.options
  const error = accessError(caller, options, request)
  if (error !== null) return error
  const alternatives = alternativesOf(caller, request, views)
  const [first] = alternatives
  if (first === undefined) return relayError('group_not_allowed', { subject: caller.group })
  if (first.caller === caller && alternatives.length === 1) {
    return planAlternative(views, caller, request, now)
  }
  const plans = alternatives.map((one) => planAlternative(views, one.caller, one.request, now))
  return combinedPlan(plans, alternatives, caller, options)
}

/**
 * Returns the caller with the first of its groups that offers the model. If no group offers the
 * model, returns the caller unchanged. This is for realtime sessions, which have no alternatives
 * and therefore stay in this group.
 */
export function callerInOfferingGroup(
  views: Views,
  caller: Caller,
  model: string,
  kind: OfferKind,
): Caller {
  const groups = servingGroupsOf(caller, views)
  const group = groups.find((name) => views.channels.offering(name, model, kind).length > 0)
  return group === undefined || group === caller.group ? caller : { ...caller, group }
}
