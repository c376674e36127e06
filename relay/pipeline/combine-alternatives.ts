import type { Served } from '#domain/accounts/events.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import type { Quota } from '#domain/shared/quota.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import { largestUses } from '../dialects/provider-tool-limits.ts'
import type { Caller } from './authenticate.ts'
import { type CallTerms, termsWithin } from './compute-hold-and-output-limit.ts'
import type {
  Alternative,
  CallPlan,
  PlannedAlternative,
} from './plan-call-for-one-model-and-group.ts'

type NotEmpty<T> = readonly [T, ...T[]]

export const isNotEmpty = <T>(list: readonly T[]): list is NotEmpty<T> => list.length > 0

/**
 * Combines the plans of a call's alternatives. The hold covers every alternative, because it is
 * computed from the most expensive price and the highest bounds.
 */
export function combineAlternatives(
  all: NotEmpty<Omit<PlannedAlternative, 'served'>>,
  { group }: Pick<Caller, 'group'>,
  options: RelayOptions,
): CallPlan {
  const [{ request, bounds: variants, isOverridden, offer }] = all
  const bounds = highestBounds(all.map(({ terms }) => terms))
  const { price } = all.reduce((most, one) =>
    holdFor(one.price, bounds) > holdFor(most.price, bounds) ? one : most,
  )
  const { isStream } = request
  const isOpenEnded = all.some(({ terms }) => terms.isOpenEnded)
  const isLimitable = all.every(
    ({ price: own, terms }) => own.mode === 'call' || terms.hold === 0n || terms.reduction !== null,
  )
  const admitted = { model: request.fallbackFor ?? request.model, group, price }
  return {
    ...{ price, bounds: variants, isOverridden, offer },
    terms: termsWithin(price, bounds, { isStream, isOpenEnded, isLimitable }, options),
    alternatives: all.map((one) => ({
      ...one,
      served: servedAs({ model: one.request.model, group: one.group, price: one.price }, admitted),
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
 * Returns plans for an account that can't pay the hold of `plan`. Each leaves out the alternatives
 * with the highest holds, and has a lower hold than the plan before it. The last plan contains only
 * the cheapest group for the first model. Fallback models do not replace this model for lack of
 * quota, because the caller would get the answer of another model without any failure.
 */
export function cheaperPlans(
  plan: CallPlan,
  caller: Pick<Caller, 'group'>,
  options: RelayOptions,
): readonly CallPlan[] {
  const { alternatives } = plan
  if (alternatives === undefined || alternatives.length === 1) return NO_PLANS
  const cheapest = cheapestOf(alternatives)
  const holds = alternatives.map(({ terms }) => terms.hold)
  const limits = [...new Set(holds.filter((hold) => hold >= cheapest.terms.hold))]
  const descending = limits.sort((one, other) => (one > other ? -1 : 1))
  const subsets = descending.map((limit) => alternatives.filter(({ terms }) => terms.hold <= limit))
  const plans: CallPlan[] = []
  let lowest = plan.terms.hold
  for (const subset of [...subsets, [cheapest]]) {
    if (!isNotEmpty(subset)) continue
    const combined = combineAlternatives(subset, caller, options)
    if (combined.terms.hold >= lowest) continue
    lowest = combined.terms.hold
    plans.push(combined)
  }
  return plans
}

const NO_PLANS: readonly CallPlan[] = []

/** Returns the cheapest group for the first model. */
export const cheapestOf = (alternatives: readonly PlannedAlternative[]): PlannedAlternative =>
  alternativesOfFirstModel(alternatives).reduce((least, one) =>
    one.terms.hold < least.terms.hold ? one : least,
  )

/**
 * Returns the alternatives with the model that is tried first. This is the model of the request,
 * unless no group offers it.
 */
export const alternativesOfFirstModel = (
  all: readonly PlannedAlternative[],
): NotEmpty<PlannedAlternative> => {
  const [first, ...others] = all
  if (first === undefined) throw new Error('a call has no alternatives')
  return [first, ...others.filter(({ request }) => request.model === first.request.model)]
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
