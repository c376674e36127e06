import { assert } from '../shared/assert.ts'
import { QUOTA_PER_DOLLAR, type Quota } from '../shared/quota.ts'
import { type Decimal, decimalOf, integer, plus, rounded, times } from './decimal.ts'
import { ratioOfConditions } from './price-conditions.ts'
import type {
  ContextTier,
  DecimalText,
  PerCallPrice,
  PerTokenPrice,
  PriceSnapshot,
} from './price-snapshot.ts'
import { inputTokensOf, TOOL_NAMES, type ToolCounts, type Usage, type UsageCount } from './usage.ts'

/**
 * The maximum charge or hold of a call: 2 million dollars. Only a wrong token count could result in
 * a higher amount.
 */
export const CHARGE_MAX: Quota = 1_000_000_000_000n

/** The maximum `n` by which one request can multiply a price per call. */
export const CALLS_MAX = 128

/** The price of a one-hour cache write, as a multiple of the price of a five-minute cache write. */
export const HOUR_CACHE_FACTOR: Decimal = Object.freeze({ units: 16n, scale: 1 })

const COUNTS = [
  'inputUncached',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'inputAudio',
  'inputImage',
  'output',
  'reasoning',
  'outputAudio',
  'toolCalls',
  'images',
  'seconds',
  'characters',
  'searchUnits',
] as const satisfies readonly UsageCount[]

export function hasUsage(usage: Usage): boolean {
  for (const count of COUNTS) if (usage[count] > 0) return true
  return (usage.outputImage ?? 0) > 0
}

/**
 * Reports whether all counts are safe integers of 0 or more. If a provider reports other counts,
 * the gateway counts the usage itself.
 */
export function isCountable(usage: Usage): boolean {
  for (const count of COUNTS) if (!isCount(usage[count])) return false
  return (
    isCount(usage.outputImage ?? 0) &&
    (usage.tools === undefined || Object.values(usage.tools).every(isCount))
  )
}

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count >= 0

/**
 * Returns the charge for the usage at the price. A price per call is multiplied by `calls`, which
 * is `n` in the formulas. The default is 1 for a call with usage and 0 for a call without usage.
 * Throws if a count is negative, fractional or not a number.
 *
 * In the formulas, these letters are the ratios of `PriceSnapshot`: M model, G group, C completion,
 * K cache read, W cache write, I image, A audio, AC audio completion, IC image completion. If the
 * price has no ratio for image completion, IC is C.
 *
 *   per token: round(((inputUncached + cacheRead·K + cacheWrite5m·W + cacheWrite1h·W·1.6
 *     + inputImage·I + inputAudio·A)·TI + ((output − outputAudio − outputImage)·C
 *     + outputAudio·A·AC + outputImage·IC)·TO)·M·G·P + tools)
 *   per call:   round(price · imageFactor · factors · 500 000 · G · n · P + tools)
 *   per second: round(price · factors · 500 000 · G · seconds · P + tools)
 *
 * TI and TO are the ratios of the tier that the input reaches, or 1. P is the product of the ratios
 * of the call's conditions and, for a call in a batch, of the price's batch ratio. `tools` is the
 * sum of uses / 1000 · dollars · 500 000 · G over the provider's tools. `factors` is the product of
 * the ratios of the requested properties. `imageFactor` is 1 if the price has no image factor.
 */
export function chargeFor(
  price: PriceSnapshot,
  usage: Usage,
  calls: number = hasUsage(usage) ? 1 : 0,
): Quota {
  return quotaOf(times(listPrice(price, usage, calls), decimalOf(price.group)))
}

/**
 * Returns the provider's charge in quota: the list price, without the group ratio, multiplied by
 * the channel's cost ratio. The result is rounded once. A charge above 0 is never rounded down to
 * 0.
 */
export function costFor(
  price: PriceSnapshot,
  usage: Usage,
  calls: number,
  costRatio: DecimalText,
): Quota {
  return quotaOf(times(listPrice(price, usage, calls), decimalOf(costRatio)))
}

/**
 * Returns the quota that the provider's cache saved: the charge if all cached tokens were ordinary
 * input, minus the charge for the usage. The result is negative if cache writes cost more than
 * cache reads saved. The result is 0 for a price per call or per second.
 */
export function savedByCache(price: PriceSnapshot, usage: Usage): Quota {
  const { inputUncached, cacheRead, cacheWrite5m, cacheWrite1h } = usage
  const cached = cacheRead + cacheWrite5m + cacheWrite1h
  if (price.mode === 'call' || cached === 0) return 0n
  const none = { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
  const uncached = { ...usage, ...none, inputUncached: inputUncached + cached }
  return chargeFor(price, uncached) - chargeFor(price, usage)
}

/** Returns the exact charge before the group ratio is applied. */
function listPrice(price: PriceSnapshot, usage: Usage, calls: number): Decimal {
  assert(isCountable(usage), 'usage is counted in whole numbers')
  const { tools, conditions = [] } = usage
  const full =
    price.mode === 'tokens' ? weightedTokens(price, usage) : fixedPrice(price, calls, usage.seconds)
  const normal = inBatch(price, full)
  const others =
    conditions.length === 0 ? normal : times(normal, ratioOfConditions(price, conditions))
  return tools === undefined ? others : plus(others, listPriceOfTools(price, tools))
}

/**
 * Multiplies an amount by the price's ratio for calls in a batch, if the price has such a ratio.
 */
export const inBatch = ({ batch }: PriceSnapshot, amount: Decimal): Decimal =>
  batch === undefined ? amount : times(amount, decimalOf(batch))

/**
 * Returns the exact price in dollars of one call, image or second with the requested properties.
 */
export function unitPrice({ price, imageFactor = '1', factors = [] }: PerCallPrice): Decimal {
  const ratios = [imageFactor, ...factors.map(({ ratio }) => ratio)]
  return ratios.reduce((dollars, ratio) => times(dollars, decimalOf(ratio)), decimalOf(price))
}

/** Returns the exact charge at a price per call or per second, without the group ratio. */
export function fixedPrice(price: PerCallPrice, calls: number, seconds: number): Decimal {
  assert(isCallCount(calls), () => `a request counts as 0 to ${CALLS_MAX} calls`)
  const count = price.per === undefined ? calls : seconds
  return times(times(unitPrice(price), integer(count)), integer(QUOTA_PER_DOLLAR))
}

/**
 * Returns the number by which a price per call is multiplied for a call that ended with this usage.
 * A price per image is multiplied by the number of delivered images, up to `requested`. Any other
 * price per call applies to a complete call even without usage, and to an incomplete call only with
 * usage.
 */
export function callsFor(
  price: PriceSnapshot,
  usage: Usage,
  requested: number,
  isComplete: boolean,
): number {
  if (price.mode === 'call' && price.imageFactor !== undefined) {
    return Math.min(requested, usage.images)
  }
  return isComplete || hasUsage(usage) ? requested : 0
}

/** Returns the exact charge for uses of the provider's tools before the group ratio is applied. */
export function listPriceOfTools({ tools = {} }: PriceSnapshot, uses: ToolCounts): Decimal {
  let dollars = integer(0)
  for (const name of TOOL_NAMES) {
    const [price, count = 0] = [tools[name], uses[name]]
    if (price === undefined || count === 0) continue
    dollars = plus(dollars, times(decimalOf(price), { units: BigInt(count), scale: 3 }))
  }
  return times(dollars, integer(QUOTA_PER_DOLLAR))
}

/** Returns the tier for a call with this many input tokens, or null if the base price applies. */
export function tierOf({ tiers }: PerTokenPrice, inputTokens: number): ContextTier | null {
  return tiers?.findLast(({ above }) => inputTokens > above) ?? null
}

export const isCallCount = (calls: number): boolean =>
  Number.isInteger(calls) && calls >= 0 && calls <= CALLS_MAX

/** Rounds to whole quota, at most `CHARGE_MAX`. An amount above 0 is never rounded down to 0. */
export function quotaOf(amount: Decimal): Quota {
  if (amount.units === 0n) return 0n
  const quota = rounded(amount)
  if (quota === 0n) return 1n
  return quota > CHARGE_MAX ? CHARGE_MAX : quota
}

function weightedTokens(price: PerTokenPrice, usage: Usage): Decimal {
  const { cacheWrite5m, cacheWrite1h, outputAudio, outputImage = 0 } = usage
  let sum = integer(usage.inputUncached)
  if (usage.cacheRead > 0) sum = withTokens(sum, usage.cacheRead, decimalOf(price.cacheRead))
  if (cacheWrite5m > 0) sum = withTokens(sum, cacheWrite5m, decimalOf(price.cacheWrite))
  if (cacheWrite1h > 0) {
    const ratio = times(decimalOf(price.cacheWrite), HOUR_CACHE_FACTOR)
    sum = withTokens(sum, cacheWrite1h, ratio)
  }
  if (usage.inputImage > 0) sum = withTokens(sum, usage.inputImage, decimalOf(price.image))
  if (usage.inputAudio > 0) sum = withTokens(sum, usage.inputAudio, decimalOf(price.audio))
  const tier = tierOf(price, inputTokensOf(usage))
  const input = tier === null ? sum : times(sum, decimalOf(tier.input))
  sum = NOTHING
  const text = usage.output - outputAudio - outputImage
  if (text > 0) sum = withTokens(sum, text, decimalOf(price.completion))
  if (outputAudio > 0) {
    const ratio = times(decimalOf(price.audio), decimalOf(price.audioCompletion))
    sum = withTokens(sum, outputAudio, ratio)
  }
  if (outputImage > 0) {
    sum = withTokens(sum, outputImage, decimalOf(price.imageCompletion ?? price.completion))
  }
  const output = tier === null ? sum : times(sum, decimalOf(tier.output))
  return times(plus(input, output), decimalOf(price.model))
}

const NOTHING = Object.freeze(integer(0))

const withTokens = (sum: Decimal, count: number, ratio: Decimal): Decimal =>
  plus(sum, times(integer(count), ratio))
