import { assert } from './assert.ts'

/** Quota for one dollar, unless the option `QuotaPerUnit` says otherwise. */
export const QUOTA_PER_DOLLAR = 500_000n

/** Quota in memory: whole units, always `bigint`, so that no float can creep in. */
export type Quota = bigint

/**
 * Quota on the wire and in events: a JSON integer below 2^53. Not a number to calculate with;
 * `fromWire` first.
 */
export type WireQuota = number & { readonly wireQuota: true }

/** The largest quota that fits a JSON integer exactly. */
export const QUOTA_MAX: Quota = BigInt(Number.MAX_SAFE_INTEGER)

export const isInRange = (quota: Quota): boolean => quota <= QUOTA_MAX && quota >= -QUOTA_MAX

/** Throws beyond ±(2^53 − 1): commands are bounded before they reach an event. */
export function toWire(quota: Quota): WireQuota {
  assert(isInRange(quota), `quota ${quota} does not fit the wire`)
  return Number(quota) as WireQuota
}

/** Throws when the number is no exact integer. */
export function fromWire(wire: number): Quota {
  assert(Number.isSafeInteger(wire), `${wire} is no exact quota`)
  return BigInt(wire)
}
