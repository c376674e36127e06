import { type Decimal, decimalText, parseDecimal } from '../pricing/decimal.ts'

/** An amount of money: `units` / 10^`scale`. Unlike a price, an amount may be negative. */
export type Amount = { readonly units: bigint; readonly scale: number }

const CONVERTED_SCALE = 6

/**
 * Parses an amount such as `-0.5` or `110.00`. Returns null if the text is not a decimal or has too
 * many digits.
 */
export function parseAmount(text: string): Amount | null {
  const isNegative = text.startsWith('-')
  const decimal = parseDecimal(isNegative ? text.slice(1) : text)
  if (decimal === null) return null
  return isNegative ? { units: -decimal.units, scale: decimal.scale } : decimal
}

export function amountText({ units, scale }: Amount): string {
  const text = decimalText({ units: units < 0n ? -units : units, scale })
  return units < 0n ? `-${text}` : text
}

export function minus(left: Amount, right: Amount): Amount {
  const scale = Math.max(left.scale, right.scale)
  const unitsOf = (amount: Amount) => amount.units * 10n ** BigInt(scale - amount.scale)
  return shortest({ units: unitsOf(left) - unitsOf(right), scale })
}

/**
 * Converts an amount to another currency. `rate` is the price of one unit of the other currency, in
 * the currency of `amount`. Rounds to six decimal places, half away from zero. Returns null if the
 * rate is not above 0.
 */
export function inCurrencyOf(amount: Amount, rate: Decimal): Amount | null {
  if (rate.units <= 0n) return null
  const isNegative = amount.units < 0n
  const units = isNegative ? -amount.units : amount.units
  // Computes (units / 10^scale) ÷ (rate / 10^rateScale) in steps of 10^-6.
  const dividend = units * 10n ** BigInt(CONVERTED_SCALE + rate.scale)
  const divisor = rate.units * 10n ** BigInt(amount.scale)
  const rounded = (dividend * 2n + divisor) / (divisor * 2n)
  return shortest({ units: isNegative ? -rounded : rounded, scale: CONVERTED_SCALE })
}

/** Converts an amount in cents to whole units of the currency. Some providers report cents. */
export const inHundredths = (amount: Amount): Amount =>
  shortest({ units: amount.units, scale: amount.scale + 2 })

function shortest({ units, scale }: Amount): Amount {
  let lowest = { units, scale }
  while (lowest.scale > 0 && lowest.units % 10n === 0n) {
    lowest = { units: lowest.units / 10n, scale: lowest.scale - 1 }
  }
  return lowest
}
