import { decimalOf } from '../pricing/decimal.ts'
import { QUOTA_MAX, QUOTA_PER_DOLLAR, type Quota, toWire, type WireQuota } from '../shared/quota.ts'
import { INVOICES_MAX, type Invoice } from './events.ts'

const BILLIONTHS = 1_000_000_000n

export const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value)

/** Divides and rounds to the nearest integer, half away from zero. `divisor` is positive. */
export function roundedQuotient(value: bigint, divisor: bigint): bigint {
  const rounded = (2n * sizeOf(value) + divisor) / (2n * divisor)
  return value < 0n ? -rounded : rounded
}

/**
 * Converts billionths of the invoice's currency to quota, rounded to the nearest unit, half away
 * from zero. `dollars` is the value of one unit of the currency in US dollars.
 */
function exactQuotaOf(amount: bigint, dollars: string): Quota {
  const { units, scale } = decimalOf(dollars)
  const divisor = BILLIONTHS * 10n ** BigInt(scale)
  return roundedQuotient(amount * units * QUOTA_PER_DOLLAR, divisor)
}

/**
 * Like `exactQuotaOf`, but an amount that a response cannot contain becomes the largest one that it
 * can. Only invoices for which `isInRange` is false have such amounts.
 */
export function quotaOf(amount: bigint, dollars: string): WireQuota {
  const exact = exactQuotaOf(amount, dollars)
  if (exact > QUOTA_MAX) return toWire(QUOTA_MAX)
  return toWire(exact < -QUOTA_MAX ? -QUOTA_MAX : exact)
}

/** With this bound, the sum of all invoices that can be kept is an exact number in a response. */
const INVOICE_QUOTA_MAX = QUOTA_MAX / BigInt(INVOICES_MAX)

/**
 * Reports whether the amounts of an invoice in quota are small enough to be summed exactly. They
 * are not if the exchange rate is inverted. Invoices that an earlier release imported may be out of
 * range.
 */
export function isInRange({
  lines,
  duplicatesAmount = 0,
  dollars,
}: Pick<Invoice, 'lines' | 'duplicatesAmount' | 'dollars'>): boolean {
  // A credit does not make the charges of other lines smaller.
  const size = lines.reduce((sum, { amount }) => sum + sizeOf(BigInt(amount)), 0n)
  return exactQuotaOf(size + sizeOf(BigInt(duplicatesAmount)), dollars) <= INVOICE_QUOTA_MAX
}
