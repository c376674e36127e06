/** A decimal number that is stored without rounding: `units / 10^scale`. */
export type ExactDecimal = { readonly units: bigint; readonly scale: number }

const SHAPE = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/**
 * Parses a decimal number such as `0.50` or `5e-1` without losing digits. Returns null for any
 * other text, for an exponent of more than three digits, and for a text with more than 400
 * characters.
 */
export function parseDecimal(text: string): ExactDecimal | null {
  const match = text.length > 400 ? null : SHAPE.exec(text.trim())
  if (match === null) return null
  const [, sign = '', integer = '0', fraction = '', exponent = '0'] = match
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(sign + integer + fraction)
  return scale < 0 ? { units: digits * 10n ** BigInt(-scale), scale: 0 } : { units: digits, scale }
}

/** Returns a number as the shortest possible text without an exponent. */
export function formatDecimal({ units, scale }: ExactDecimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  const integer = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '')
  const text = fraction === '' ? integer : `${integer}.${fraction}`
  return units < 0n ? `-${text}` : text
}

export const multiply = (left: ExactDecimal, right: ExactDecimal): ExactDecimal => ({
  units: left.units * right.units,
  scale: left.scale + right.scale,
})

export function add(left: ExactDecimal, right: ExactDecimal): ExactDecimal {
  const scale = Math.max(left.scale, right.scale)
  const widened = ({ units, scale: own }: ExactDecimal) => units * 10n ** BigInt(scale - own)
  return { units: widened(left) + widened(right), scale }
}

export const subtract = (left: ExactDecimal, right: ExactDecimal): ExactDecimal =>
  add(left, { units: -right.units, scale: right.scale })

export const fromInteger = (integer: bigint | number): ExactDecimal => ({
  units: BigInt(integer),
  scale: 0,
})

/** Rounds to an integer. Halves are rounded away from zero. */
export function roundToInteger({ units, scale }: ExactDecimal): bigint {
  const unitsOfOne = 10n ** BigInt(scale)
  const size = units < 0n ? -units : units
  const rounded = (size * 2n + unitsOfOne) / (unitsOfOne * 2n)
  return units < 0n ? -rounded : rounded
}

/**
 * Returns the quotient, rounded to `digits` decimals (halves away from zero). Returns null if
 * `right` is 0.
 */
export function divide(left: ExactDecimal, right: ExactDecimal, digits = 12): ExactDecimal | null {
  if (right.units === 0n) return null
  const shift = BigInt(digits + right.scale)
  const numerator = left.units * 10n ** shift * 2n
  const denominator = right.units * 10n ** BigInt(left.scale)
  const doubled = numerator / denominator
  const half = doubled < 0n ? -1n : 1n
  return { units: (doubled + half) / 2n, scale: digits }
}

export const isZero = ({ units }: ExactDecimal): boolean => units === 0n
export const isNegative = ({ units }: ExactDecimal): boolean => units < 0n

/** Reports whether two texts are the same number, such as `0.50` and `5e-1`. */
export function isSameNumber(left: string, right: string): boolean {
  const [a, b] = [parseDecimal(left), parseDecimal(right)]
  return a !== null && b !== null && formatDecimal(a) === formatDecimal(b)
}
