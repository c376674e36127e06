import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { OfferKind } from '../views/channel-view.ts'
import type { Views } from '../views/start-views.ts'
import type { Caller } from './authenticate.ts'
import { combineAlternatives, isNotEmpty } from './combine-alternatives.ts'
import { servingGroupsOf } from './groups-that-may-serve-call.ts'
import { accessError } from './model-access-errors.ts'
import { type CallPlan, planAlternative } from './plan-call-for-one-model-and-group.ts'

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
  const plans = alternatives.map((one) => {
    const plan = planAlternative(views, one.caller, one.request, now)
    return isRelayError(plan) ? plan : { ...plan, request: one.request, group: one.caller.group }
  })
  const possible = plans.flatMap((plan) => (isRelayError(plan) ? [] : [plan]))
  if (isNotEmpty(possible)) return combineAlternatives(possible, caller, options)
  const firstError = plans.find(isRelayError)
  if (firstError === undefined) throw new Error('a call has no alternatives')
  return firstError
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
