import { assert } from '../shared/assert.ts'
import type { DecimalText } from './price.ts'

/** Exactly `units` / 10^`scale`, 0 or more. */
export type Decimal = { readonly units: bigint; readonly scale: number }

/**
 * Digits after the point that a decimal may have, and digits before it. 30 are enough for a ratio
 * that does not come out even (20 / 6) to charge to the unit what its prices say.
 */
export const SCALE_MAX = 30
export const WHOLE_DIGITS_MAX = 12

const TEXT_LENGTH_MAX = 64
const FORM = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/

export const ZERO: Decimal = Object.freeze({ units: 0n, scale: 0 })
export const ONE: Decimal = Object.freeze({ units: 1n, scale: 0 })

/**
 * The exact decimal a number's text stands for: `0.075`, `12`, `1e-3`. null when it is no number,
 * is negative or not finite, or has more than 12 digits before or 30 after the point.
 */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > TEXT_LENGTH_MAX) return null
  const [, whole = '', fraction = '', exponent = '0'] = FORM.exec(text) ?? []
  if (whole === '') return null
  return within(BigInt(whole + fraction), fraction.length - Number(exponent))
}

/** Bounds the scale before any power of ten is computed: an exponent may be a bomb. */
function within(digits: bigint, scale: number): Decimal | null {
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

/** The same few ratios price every call: each text is read once. */
const known = new Map<DecimalText, Decimal>()
const KNOWN_MAX = 4_096

/** The decimal of a text that was checked before; throws when it was not. */
export function decimalOf(text: DecimalText): Decimal {
  const before = known.get(text)
  if (before !== undefined) return before
  const decimal = parseDecimal(text)
  assert(decimal !== null, 'a price is a decimal')
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(text, decimal)
  return decimal
}

/** Plain digits: no exponent, no needless zero. */
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

/** To the nearest whole number, half away from zero. */
export function rounded({ units, scale }: Decimal): bigint {
  if (scale === 0) return units
  const unit = 10n ** BigInt(scale)
  return (units * 2n + unit) / (unit * 2n)
}

const unitsAt = ({ units, scale }: Decimal, wanted: number): bigint =>
  units * 10n ** BigInt(wanted - scale)
