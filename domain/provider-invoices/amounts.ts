import { decimalOf, isAbove } from '../pricing/decimal.ts'
import { QUOTA_MAX, QUOTA_PER_DOLLAR, type Quota, toWire, type WireQuota } from '../shared/quota.ts'
import { PROVIDER_INVOICES_MAX } from './decide.ts'
import { DECIMALS, type ProviderInvoice } from './events.ts'

const CHEAP_DECIMALS = 5
const CENT = decimalOf('0.01')

/**
 * Returns the number of decimals of an invoice's amounts, or undefined for the usual number
 * (`DECIMALS`). `dollars` is the price of one unit of the currency. If the unit is worth less than
 * a cent, fewer decimals are used, because amounts in this currency are larger.
 */
export function decimalsFor(dollars: string): number | undefined {
  return isAbove(CENT, decimalOf(dollars)) ? CHEAP_DECIMALS : undefined
}

export const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value)

/** Divides and rounds to the nearest integer, half away from zero. `divisor` is positive. */
export function roundedQuotient(value: bigint, divisor: bigint): bigint {
  const rounded = (2n * sizeOf(value) + divisor) / (2n * divisor)
  return value < 0n ? -rounded : rounded
}

/**
 * The data that is needed to convert an amount of an invoice to quota: the price of the currency
 * and the number of decimals.
 */
export type AmountTerms = Pick<ProviderInvoice, 'dollars' | 'decimals'>

/**
 * Converts an amount in the units of an invoice to quota, rounded to the nearest integer, half away
 * from zero.
 */
function exactQuotaOf(amount: bigint, { dollars, decimals = DECIMALS }: AmountTerms): Quota {
  const { units, scale } = decimalOf(dollars)
  const divisor = 10n ** BigInt(decimals + scale)
  return roundedQuotient(amount * units * QUOTA_PER_DOLLAR, divisor)
}

/**
 * Converts an amount like `exactQuotaOf`, but limits the result to the largest number that a
 * response can contain. Only invoices for which `isInRange` is false have larger amounts.
 */
export function quotaOf(amount: bigint, terms: AmountTerms): WireQuota {
  const exact = exactQuotaOf(amount, terms)
  if (exact > QUOTA_MAX) return toWire(QUOTA_MAX)
  return toWire(exact < -QUOTA_MAX ? -QUOTA_MAX : exact)
}

/**
 * The maximum quota of one invoice. Even the sum of the maximum number of such invoices can be sent
 * as an exact number in a response.
 */
const PROVIDER_INVOICE_QUOTA_MAX = QUOTA_MAX / BigInt(PROVIDER_INVOICES_MAX)

/**
 * Reports whether the amounts of an invoice in quota are small enough to be summed exactly. The
 * amounts are too large if an admin has entered an inverted exchange rate, for example. Invoices
 * that an earlier release imported may be out of range.
 */
export function isInRange({
  lines,
  duplicatesAmount = 0,
  ...terms
}: AmountTerms & Pick<ProviderInvoice, 'lines' | 'duplicatesAmount'>): boolean {
  // Absolute amounts are summed, so that credits do not reduce the sum of the other lines.
  const size = lines.reduce((sum, { amount }) => sum + sizeOf(BigInt(amount)), 0n)
  return exactQuotaOf(size + sizeOf(BigInt(duplicatesAmount)), terms) <= PROVIDER_INVOICE_QUOTA_MAX
}
