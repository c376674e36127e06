import { assert } from './assert.ts'

/** The default quota for one dollar. The option `QuotaPerUnit` can set another value. */
export const QUOTA_PER_DOLLAR = 500_000n

/**
 * Quota in memory, in whole units. It is a `bigint`, because floating-point numbers would cause
 * rounding errors.
 */
export type Quota = bigint

/**
 * An amount of quota in the API and in events: a JSON integer below 2^53. It must be converted with
 * `fromWire` before any calculation.
 */
export type WireQuota = number & { readonly wireQuota: true }

/** The largest quota that a JSON integer represents exactly. */
export const QUOTA_MAX: Quota = BigInt(Number.MAX_SAFE_INTEGER)

export const isInRange = (quota: Quota): boolean => quota <= QUOTA_MAX && quota >= -QUOTA_MAX

/**
 * Converts quota to a JSON integer. Throws if the quota is outside ±(2^53 − 1). The deciders check
 * this range before they return events.
 */
export function toWire(quota: Quota): WireQuota {
  assert(isInRange(quota), `quota ${quota} does not fit the wire`)
  return Number(quota) as WireQuota
}

/** Converts a JSON integer to quota. Throws if the number is not an exact integer. */
export function fromWire(wire: number): Quota {
  assert(Number.isSafeInteger(wire), `${wire} is no exact quota`)
  return BigInt(wire)
}
