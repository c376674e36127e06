import { assert } from './assert.ts'

/**
 * The quota for one dollar of a price. This number equals the default of the option `QuotaPerUnit`.
 */
export const QUOTA_PER_DOLLAR = 500_000n

/** Whole units of quota. Floating-point numbers would cause rounding errors. */
export type Quota = bigint

/**
 * Quota in the API and in events: a JSON integer below 2^53. Convert with `fromWire` before
 * calculating.
 */
export type WireQuota = number & { readonly wireQuota: true }

export const QUOTA_MAX: Quota = BigInt(Number.MAX_SAFE_INTEGER)

const QUOTA_MIN: Quota = -QUOTA_MAX

export const isInRange = (quota: Quota): boolean => quota <= QUOTA_MAX && quota >= QUOTA_MIN

/**
 * Throws if the quota is outside ±(2^53 − 1). Such an amount is a bug, because deciders have
 * checked the range before. The function checks the condition itself, because each use of `assert`
 * would build a message, and each call of a model converts a dozen amounts.
 */
export function toWire(quota: Quota): WireQuota {
  if (!isInRange(quota)) assert(false, `quota ${quota} exceeds the range of the wire format`)
  return Number(quota) as WireQuota
}

/** Throws if the number is not an exact integer. */
export function fromWire(wire: number): Quota {
  if (!Number.isSafeInteger(wire)) assert(false, `${wire} is not an exact quota`)
  return BigInt(wire)
}
