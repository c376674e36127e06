import { type Decimal, decimalOf, integer, rounded, times } from '../pricing/decimal.ts'
import type { DecimalText } from '../pricing/price-snapshot.ts'
import type { Quota } from '../shared/quota.ts'
import type { MoneyText } from './events.ts'

const FORM = /^(\d{1,12})(?:\.(\d{1,2})0{0,16})?$/

/** Parses an amount of money (`7.3`, `7.30` or `7`) to hundredths, or returns null. */
export function centsOf(text: string): bigint | null {
  const [, whole, fraction = ''] = FORM.exec(text) ?? []
  return whole === undefined ? null : BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'))
}

/** Formats hundredths as text with two decimal places, such as `7.30`. */
export const moneyText = (cents: bigint): MoneyText =>
  `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`

/**
 * Returns the price in hundredths for quota worth `amount` dollars. The price is rounded once, half
 * up.
 */
export const priceCents = (amount: number, price: DecimalText, ratio: DecimalText): bigint =>
  rounded(product(integer(BigInt(amount) * 100n), price, ratio))

export const quotaOfDollars = (amount: number, quotaPerUnit: DecimalText): Quota =>
  rounded(product(integer(amount), quotaPerUnit))

/**
 * Returns a percentage of the quota, rounded down, so that the result never exceeds the exact
 * share.
 */
export function shareOf(quota: Quota, percentage: DecimalText): Quota {
  const { units, scale } = times(integer(quota), decimalOf(percentage))
  return units / (100n * 10n ** BigInt(scale))
}

/**
 * Returns the share of `quota` that corresponds to `cents` of the total price `allCents`, rounded
 * down.
 */
export const partOf = (quota: Quota, cents: bigint, allCents: bigint): Quota =>
  (quota * cents) / allCents

const product = (first: Decimal, ...factors: readonly DecimalText[]): Decimal =>
  factors.reduce((value, factor) => times(value, decimalOf(factor)), first)
