import {
  divide,
  type ExactDecimal,
  formatDecimal,
  isZero,
  multiply,
  parseDecimal,
  subtract,
} from '#console/ui/quota/exact-decimal.ts'

/** The price in dollars of a million input tokens at ratio 1. Prices are stored as ratios. */
const DOLLARS_PER_RATIO = { units: 2n, scale: 0 }
const HALF = { units: 5n, scale: 1 }

/** Converts a ratio to exact dollars per million tokens. An invalid ratio becomes ''. */
export function priceOfRatio(ratio: string): string {
  const value = parseDecimal(ratio)
  return value === null ? '' : formatDecimal(multiply(value, DOLLARS_PER_RATIO))
}

/** Converts exact dollars per million tokens to a ratio. An invalid price becomes ''. */
export function ratioOfPrice(price: string): string {
  const value = parseDecimal(price)
  return value === null ? '' : formatDecimal(multiply(value, HALF))
}

/** The maximum number of decimals that the server accepts in a ratio. */
const RATIO_SCALE = 30
/**
 * A ratio of two prices with at least this number of digits may be a rounded quotient. A ratio with
 * fewer digits is regarded as exact.
 */
const ROUNDED_DIGITS_MIN = 12
/**
 * `scaledPrice` returns a rounded price instead of the exact product only if rounding saves at
 * least this number of decimals. A price that becomes so much shorter is probably the price that a
 * user once entered.
 */
const DECIMALS_SAVED_MIN = 4

/**
 * Returns the price of output or of cached input in dollars per million tokens. `scaleRatio` is the
 * ratio of this price to the price of input. A stored ratio may have been rounded, and its exact
 * product with the input price then has many decimals. In this case, the function returns the
 * shortest price that gives the same ratio, if this saves at least `DECIMALS_SAVED_MIN` decimals.
 * If a ratio is invalid, returns an empty text.
 */
export function scaledPrice(ratio: string, scaleRatio: string): string {
  const [model, factor] = [parseDecimal(ratio), parseDecimal(scaleRatio)]
  if (model === null || factor === null) return ''
  const input = multiply(model, DOLLARS_PER_RATIO)
  const product = multiply(input, factor)
  const exact = formatDecimal(product)
  const digits = formatDecimal(factor).replace(/^[0.]+|\./g, '').length
  if (digits < ROUNDED_DIGITS_MIN || isZero(input)) return exact
  const scale = decimalsOf(exact)
  for (let decimals = 0; decimals <= scale - DECIMALS_SAVED_MIN; decimals += 1) {
    const price = divide(product, ONE, decimals)
    if (price !== null && isQuotient(price, input, factor)) return formatDecimal(price)
  }
  return exact
}

const ONE = { units: 1n, scale: 0 }

/** Reports whether `ratio` can be `price` divided by `input`, with a rounded last digit. */
function isQuotient(price: ExactDecimal, input: ExactDecimal, ratio: ExactDecimal): boolean {
  const text = formatDecimal(ratio)
  const lastDigit = { units: 1n, scale: decimalsOf(text) }
  const difference = absolute(subtract(multiply(ratio, input), price))
  if (subtract(difference, multiply(lastDigit, input)).units < 0n) return true
  const quotient = divide(price, input, RATIO_SCALE)
  return quotient !== null && Number(formatDecimal(quotient)) === Number(text)
}

const absolute = ({ units, scale }: ExactDecimal): ExactDecimal => ({
  units: units < 0n ? -units : units,
  scale,
})

const decimalsOf = (text: string): number => text.split('.')[1]?.length ?? 0

/**
 * Returns the completion ratio: the output price divided by the input price, rounded up. A ratio
 * that is rounded down could make a charge fall just below half a quota unit. The charge would then
 * be rounded down instead of up. Returns an empty text if a price is invalid or the input price is
 * 0.
 */
export function completionRatioOf(inputPrice: string, output: string): string {
  const [input, result] = [parseDecimal(inputPrice), parseDecimal(output)]
  if (input === null || result === null || isZero(input)) return ''
  const numerator = result.units * 10n ** BigInt(RATIO_SCALE + input.scale)
  const denominator = input.units * 10n ** BigInt(result.scale)
  const quotient = numerator / denominator
  const isDivisible = quotient * denominator === numerator
  return formatDecimal({ units: isDivisible ? quotient : quotient + 1n, scale: RATIO_SCALE })
}

/**
 * Returns a ratio for display, rounded to 6 decimals. If rounding changed the ratio, the text
 * starts with `≈`. A ratio that would be rounded to 0 is returned unchanged.
 */
export function shortRatio(ratio: string): string {
  const value = parseDecimal(ratio)
  if (value === null || decimalsOf(formatDecimal(value)) <= SHOWN_DECIMALS) return ratio
  const rounded = divide(value, ONE, SHOWN_DECIMALS)
  return rounded === null || isZero(rounded) ? ratio : `≈${formatDecimal(rounded)}`
}

const SHOWN_DECIMALS = 6

/** Returns the cost in dollars of an example call with 1000 input and 500 output tokens. */
export function exampleCost(inputPrice: string, output: string): string {
  const [input, result] = [parseDecimal(inputPrice), parseDecimal(output)]
  if (input === null || result === null) return ''
  const scale = Math.max(input.scale, result.scale)
  const units =
    1000n * input.units * 10n ** BigInt(scale - input.scale) +
    500n * result.units * 10n ** BigInt(scale - result.scale)
  return formatDecimal({ units, scale: scale + 6 })
}

export function quotaOfDollars(price: string): string {
  const value = parseDecimal(price)
  return value === null ? '' : formatDecimal(multiply(value, { units: 500_000n, scale: 0 }))
}
