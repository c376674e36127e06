import { assert } from '../shared/assert.ts'
import type { DecimalText } from './price-snapshot.ts'

/** An exact decimal of 0 or more: `units` / 10^`scale`. */
export type Decimal = { readonly units: bigint; readonly scale: number }

/**
 * The maximum number of digits after the decimal point (`SCALE_MAX`) and before it
 * (`WHOLE_DIGITS_MAX`). With 30 digits, a ratio such as 20 / 6 is precise enough for exact charges.
 */
const SCALE_MAX = 30
const WHOLE_DIGITS_MAX = 12

const TEXT_LENGTH_MAX = 64
const DECIMAL_PATTERN = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/

const ZERO: Decimal = Object.freeze({ units: 0n, scale: 0 })
export const ONE: Decimal = Object.freeze({ units: 1n, scale: 0 })

/**
 * Parses `0.075`, `12` or `1e-3` exactly. Returns null for other text, for negative numbers, and
 * for more than 12 digits before or 30 digits after the decimal point.
 */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > TEXT_LENGTH_MAX) return null
  const [, whole = '', fraction = '', exponent = '0'] = DECIMAL_PATTERN.exec(text) ?? []
  if (whole === '') return null
  return normalize(BigInt(whole + fraction), fraction.length - Number(exponent))
}

/**
 * Returns the decimal `digits` / 10^`scale` without trailing zeros, or null if the decimal has too
 * many digits. The scale is checked before a power of ten is computed, because a very large
 * exponent would exhaust the memory.
 */
function normalize(digits: bigint, scale: number): Decimal | null {
  if (digits === 0n) return ZERO
  let units = digits
  let places = scale
  while (units % 10n === 0n) {
    units /= 10n
    places -= 1
  }
  if (places > SCALE_MAX || places < -WHOLE_DIGITS_MAX) return null
  if (String(units).length - places > WHOLE_DIGITS_MAX) return null
  return places < 0 ? { units: units * 10n ** BigInt(-places), scale: 0 } : { units, scale: places }
}

/** A cache of parsed decimals, because all calls are priced with the same few ratios. */
const cache = new Map<DecimalText, Decimal>()
const CACHE_ENTRIES_MAX = 4_096

/** Parses a validated decimal. Throws if the text is invalid. */
export function decimalOf(text: DecimalText): Decimal {
  const cached = cache.get(text)
  if (cached !== undefined) return cached
  const decimal = parseDecimal(text)
  assert(decimal !== null, 'a price is a decimal')
  if (cache.size >= CACHE_ENTRIES_MAX) cache.clear()
  cache.set(text, decimal)
  return decimal
}

/**
 * Formats a decimal as plain digits without an exponent. All `scale` digits after the point are
 * kept.
 */
export function decimalText({ units, scale }: Decimal): DecimalText {
  if (scale === 0) return String(units)
  const digits = String(units).padStart(scale + 1, '0')
  return `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

export const integer = (value: bigint | number): Decimal => ({ units: BigInt(value), scale: 0 })

export const times = (left: Decimal, right: Decimal): Decimal => ({
  units: left.units * right.units,
  scale: left.scale + right.scale,
})

/**
 * Returns the quotient, rounded up to `SCALE_MAX` digits after the decimal point. Throws if the
 * divisor is 0.
 */
export function quotient(dividend: Decimal, divisor: Decimal): Decimal {
  assert(divisor.units > 0n, 'a divisor is above 0')
  const numerator = dividend.units * 10n ** BigInt(SCALE_MAX + divisor.scale)
  const denominator = divisor.units * 10n ** BigInt(dividend.scale)
  const units = (numerator + denominator - 1n) / denominator
  const result = normalize(units, SCALE_MAX)
  assert(result !== null, 'a quotient of prices is in range')
  return result
}

export function plus(left: Decimal, right: Decimal): Decimal {
  const scale = Math.max(left.scale, right.scale)
  return { units: unitsAt(left, scale) + unitsAt(right, scale), scale }
}

export function isAbove(left: Decimal, right: Decimal): boolean {
  const scale = Math.max(left.scale, right.scale)
  return unitsAt(left, scale) > unitsAt(right, scale)
}

export const largest = (first: Decimal, ...others: readonly Decimal[]): Decimal =>
  others.reduce((most, other) => (isAbove(other, most) ? other : most), first)

/** Rounds half up to an integer. */
export function rounded({ units, scale }: Decimal): bigint {
  if (scale === 0) return units
  const unit = 10n ** BigInt(scale)
  return (units * 2n + unit) / (unit * 2n)
}

const unitsAt = ({ units, scale }: Decimal, largerScale: number): bigint =>
  largerScale === scale ? units : units * 10n ** BigInt(largerScale - scale)
