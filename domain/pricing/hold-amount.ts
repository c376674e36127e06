import { assert } from '../shared/assert.ts'
import type { Quota } from '../shared/quota.ts'
import {
  CALLS_MAX,
  fixedPrice,
  HOUR_CACHE_FACTOR,
  inBatch,
  listPriceOfTools,
  quotaOf,
  tierOf,
} from './charge.ts'
import { type Decimal, decimalOf, integer, largest, ONE, plus, times } from './decimal.ts'
import { mostExpensiveConditions, ratioOfConditions } from './price-conditions.ts'
import type { PerTokenPrice, PriceSnapshot } from './price-snapshot.ts'
import {
  inputTokensOf,
  type ToolCounts,
  type Usage,
  type UsageLimits,
  usageWithin,
} from './usage.ts'

/** The maximum usage of one request. `outputTokens` is per choice. */
export type CallBounds = {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly choices: number
  /** The kinds of expensive input that the request may contain. The default is all kinds. */
  readonly inputKinds?: InputKinds
  /** The maximum number of uses of each of the provider's tools. The default is none. */
  readonly tools?: ToolCounts
  /** The maximum length of all videos together, in seconds. The default is 0. */
  readonly seconds?: number
}

export type InputKinds = {
  /**
   * True if the request asks for the one-hour cache. For any other request, writes to this cache
   * are charged only as far as the account can pay for them (see `UsageLimits`).
   */
  readonly hasHourCache: boolean
}

const NO_CHOICES = `1 to ${CALLS_MAX} choices`
const ALL_KINDS: InputKinds = Object.freeze({ hasHourCache: true })

/**
 * Returns the maximum cost of a call. Any input token may be a cache write, an image or audio, so
 * each input token is priced at the highest ratio of the possible input kinds. Each output token is
 * priced at the highest output ratio. The context tier is chosen by the maximum number of input
 * tokens, because no tier is cheaper than the tiers below it. If the price depends on conditions of
 * the call, the most expensive combination of conditions is assumed.
 */
export function holdFor(price: PriceSnapshot, bounds: CallBounds): Quota {
  const { inputTokens, outputTokens, choices } = bounds
  assert(isCount(inputTokens) && isCount(outputTokens), 'bounds are whole numbers')
  assert(isCount(choices) && choices >= 1 && choices <= CALLS_MAX, NO_CHOICES)
  const dearest = ratioOfConditions(price, mostExpensiveConditions(price))
  const others = inBatch(price, times(withoutTools(price, bounds), dearest))
  return quotaOf(plus(others, ofTools(price, bounds)))
}

function withoutTools(price: PriceSnapshot, bounds: CallBounds): Decimal {
  const { inputTokens, outputTokens, choices } = bounds
  if (price.mode === 'call') {
    return times(fixedPrice(price, choices, bounds.seconds ?? 0), decimalOf(price.group))
  }
  const highest = highestRates(price, bounds.inputKinds ?? ALL_KINDS)
  const input = times(integer(inputTokens), highest.input)
  const output = times(integer(BigInt(outputTokens) * BigInt(choices)), highest.output)
  const tier = tierOf(price, inputTokens)
  if (tier === null) return plus(input, output)
  return plus(times(input, decimalOf(tier.input)), times(output, decimalOf(tier.output)))
}

const NOTHING = integer(0)

const ofTools = (price: PriceSnapshot, { tools }: CallBounds): Decimal =>
  tools === undefined ? NOTHING : times(listPriceOfTools(price, tools), decimalOf(price.group))

/**
 * Returns the largest output limit, in tokens per choice, at which the hold is at most `most`. The
 * limit is at most `bounds.outputTokens`. Returns null if the input alone may cost more than
 * `most`.
 */
export function outputTokensWithin(
  price: PriceSnapshot,
  bounds: CallBounds,
  most: Quota,
): number | null {
  const fits = (outputTokens: number) => holdFor(price, { ...bounds, outputTokens }) <= most
  return fits(0) ? largestCount(bounds.outputTokens, fits) : null
}

/**
 * Returns the part of `usage` within `limits`, plus as much of the excess usage as `isPayable`
 * accepts. Input tokens are added first, then writes at the price of the one-hour cache, and then
 * output tokens.
 */
export function payableUsage(
  usage: Usage,
  limits: UsageLimits,
  isPayable: (part: Usage) => boolean,
): Usage {
  const { input, hours, output } = beyond(usage, limits)
  const partWith = (more: number): Usage =>
    usageWithin(usage, {
      ...raised(limits, Math.min(more, input), Math.min(Math.max(0, more - input), hours)),
      outputTokens: limits.outputTokens + Math.max(0, more - input - hours),
    })
  return partWith(largestCount(input + hours + output, (more) => isPayable(partWith(more))))
}

/** Returns the counts by which a usage exceeds its limits. */
const beyond = (usage: Usage, { inputTokens, outputTokens, hourWrites }: UsageLimits) => ({
  input: Math.max(0, inputTokensOf(usage) - inputTokens),
  hours: Math.max(0, usage.cacheWrite1h - (hourWrites ?? usage.cacheWrite1h)),
  output: Math.max(0, usage.output - outputTokens),
})

/** Returns the limits with more input tokens and more writes to the one-hour cache. */
const raised = (limits: UsageLimits, input: number, hours: number): UsageLimits => {
  const { inputTokens, hourWrites } = limits
  const more = { ...limits, inputTokens: inputTokens + input }
  return hourWrites === undefined ? more : { ...more, hourWrites: hourWrites + hours }
}

/**
 * Returns one or two parts of `usage` that may be charged at a price with context tiers. With such
 * a price, one more token can raise the price of all tokens. Each part contains as much input as
 * `isPayable` accepts, then as many writes to the one-hour cache, and then as much output. The
 * first part includes at least the usage within `limits`. The second part may have less output than
 * `limits`, so that more input is payable and may reach a tier. The second part is omitted if it is
 * not payable. The caller must charge the part with the higher charge. Otherwise, a call could
 * become cheaper as soon as its input reaches a tier.
 */
export function payablePartsInTiers(
  usage: Usage,
  limits: UsageLimits,
  isPayable: (part: Usage) => boolean,
): readonly Usage[] {
  const partFrom = (least: UsageLimits): Usage => {
    const more = beyond(usage, least)
    const partWith = (input: number, hours: number, output: number): Usage =>
      usageWithin(usage, {
        ...raised(least, input, hours),
        outputTokens: least.outputTokens + output,
      })
    const input = largestCount(more.input, (count) => isPayable(partWith(count, 0, 0)))
    const hours = largestCount(more.hours, (count) => isPayable(partWith(input, count, 0)))
    return partWith(
      input,
      hours,
      largestCount(more.output, (count) => isPayable(partWith(input, hours, count))),
    )
  }
  const withLessOutput = partFrom({ ...limits, outputTokens: 0 })
  const within = partFrom(limits)
  return isPayable(withLessOutput) ? [within, withLessOutput] : [within]
}

/**
 * Returns the largest count up to `most` for which `fits` returns true, or 0 if there is none. If a
 * count fits, all smaller counts must fit.
 */
function largestCount(most: number, fits: (count: number) => boolean): number {
  let enough = 0
  let beyond = most + 1
  while (beyond - enough > 1) {
    const middle = Math.floor((enough + beyond) / 2)
    if (fits(middle)) enough = middle
    else beyond = middle
  }
  return enough
}

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0

/** The highest price of one input token and of one output token, in quota. */
type Rates = { readonly input: Decimal; readonly output: Decimal }

/**
 * Two caches of rates by price object. The first is for calls without the one-hour cache, and the
 * second is for calls with the one-hour cache. All calls with the same price share one price
 * object.
 */
const knownRates = Array.from({ length: 2 }, () => new WeakMap<PerTokenPrice, Rates>())

function highestRates(price: PerTokenPrice, { hasHourCache }: InputKinds): Rates {
  const ofKinds = knownRates[hasHourCache ? 1 : 0]
  const cached = ofKinds?.get(price)
  if (cached !== undefined) return cached
  const ratio = times(decimalOf(price.model), decimalOf(price.group))
  const audio = decimalOf(price.audio)
  const write = decimalOf(price.cacheWrite)
  const input = largest(
    ONE,
    decimalOf(price.cacheRead),
    hasHourCache ? times(write, HOUR_CACHE_FACTOR) : write,
    decimalOf(price.image),
    audio,
  )
  const output = largest(
    decimalOf(price.completion),
    times(audio, decimalOf(price.audioCompletion)),
    decimalOf(price.imageCompletion ?? price.completion),
  )
  const rates = { input: times(input, ratio), output: times(output, ratio) }
  ofKinds?.set(price, rates)
  return rates
}
