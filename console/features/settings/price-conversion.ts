import { divide, formatDecimal, multiply, parseDecimal } from '#console/ui/exact-decimal.ts'

/** Ratio 1 is two dollars for a million input tokens. */
const DOLLARS_PER_RATIO = { units: 2n, scale: 0 }
const HALF = { units: 5n, scale: 1 }

/** Dollars per million input tokens of a ratio, exactly; empty when the text is no number. */
export function priceOfRatio(ratio: string): string {
  const value = parseDecimal(ratio)
  return value === null ? '' : formatDecimal(multiply(value, DOLLARS_PER_RATIO))
}

/** The ratio of dollars per million input tokens, exactly; empty when the text is no number. */
export function ratioOfPrice(price: string): string {
  const value = parseDecimal(price)
  return value === null ? '' : formatDecimal(multiply(value, HALF))
}

/** Dollars per million output tokens, exactly; empty while either part is missing. */
export function outputPrice(ratio: string, completionRatio: string): string {
  const [input, completion] = [parseDecimal(ratio), parseDecimal(completionRatio)]
  if (input === null || completion === null) return ''
  return formatDecimal(multiply(multiply(input, DOLLARS_PER_RATIO), completion))
}

/**
 * Output price divided by input price, rounded at twelve decimals where it does not come out
 * even; empty while either is missing or the input price is 0.
 */
export function completionRatioOf(inputPrice: string, output: string): string {
  const [input, result] = [parseDecimal(inputPrice), parseDecimal(output)]
  if (input === null || result === null) return ''
  const quotient = divide(result, input)
  return quotient === null ? '' : formatDecimal(quotient)
}

/** Dollars of 1000 input and 500 output tokens; empty while either price is missing. */
export function exampleCost(inputPrice: string, output: string): string {
  const [input, result] = [parseDecimal(inputPrice), parseDecimal(output)]
  if (input === null || result === null) return ''
  const scale = Math.max(input.scale, result.scale)
  const units =
    1000n * input.units * 10n ** BigInt(scale - input.scale) +
    500n * result.units * 10n ** BigInt(scale - result.scale)
  return formatDecimal({ units, scale: scale + 6 })
}

/** Quota units of a price per call at the default 500 000 per dollar; empty for no number. */
export function quotaOfDollars(price: string): string {
  const value = parseDecimal(price)
  return value === null ? '' : formatDecimal(multiply(value, { units: 500_000n, scale: 0 }))
}
