import { divide, formatDecimal, multiply, parseDecimal } from './exact-decimal.ts'

/**
 * The unit in which users enter amounts: dollars if `isCurrency` is true, and quota units
 * otherwise.
 */
export type AmountUnit = { isCurrency: boolean; quotaPerUnit: bigint }

const QUOTA_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Returns the unit in which users enter amounts. The unit is dollars only if the site shows dollars
 * (`displayInCurrency`) and one quota unit is a finite decimal fraction of a dollar, such as
 * 0.000002. Without such a fraction, amounts in dollars could not be converted exactly.
 */
export function amountUnitOf(displayInCurrency: boolean, quotaPerUnit: number): AmountUnit {
  const isWhole = Number.isSafeInteger(quotaPerUnit) && quotaPerUnit > 0
  const perUnit = isWhole ? BigInt(quotaPerUnit) : 500_000n
  return { isCurrency: displayInCurrency && isWhole && dividesTens(perUnit), quotaPerUnit: perUnit }
}

export function amountOfQuota(quota: bigint, unit: AmountUnit): string {
  if (!unit.isCurrency) return quota.toString()
  const dollars = divide({ units: quota, scale: 0 }, { units: unit.quotaPerUnit, scale: 0 }, 24)
  return dollars === null ? '' : formatDecimal(dollars)
}

/**
 * Converts an amount that a user entered to quota units. Returns null if the text is not an amount,
 * or if the result would be negative, would exceed `QUOTA_MAX` or would not be a whole number.
 */
export function quotaOfAmount(text: string, unit: AmountUnit): bigint | null {
  const amount = parseDecimal(text)
  if (amount === null) return null
  const factor = unit.isCurrency ? unit.quotaPerUnit : 1n
  const quota = formatDecimal(multiply(amount, { units: factor, scale: 0 }))
  if (!/^\d+$/.test(quota) || BigInt(quota) > QUOTA_MAX) return null
  return BigInt(quota)
}

/**
 * Reports whether the text is not empty and `quotaOfAmount` can't convert it. In dollars, a text
 * that ends with a decimal point is accepted, because the user may still be typing.
 */
export function isInvalidAmount(text: string, unit: AmountUnit): boolean {
  const normalized = unit.isCurrency ? text.trim().replace(/(?<=\d)\.$/, '') : text
  return normalized.trim() !== '' && quotaOfAmount(normalized, unit) === null
}

function dividesTens(value: bigint): boolean {
  let rest = value
  for (const factor of [2n, 5n]) while (rest % factor === 0n) rest /= factor
  return rest === 1n
}
