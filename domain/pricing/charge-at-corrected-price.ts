import { callsFor, chargeFor, hasUsage } from './charge.ts'
import type { DecimalText, PerCallPrice, PerTokenPrice, PriceSnapshot } from './price-snapshot.ts'
import type { Usage } from './usage.ts'

/**
 * The ratios, or the price in dollars, that replace those of a wrong price. Omitted members do not
 * change. Tiers, tools, conditions and factors never change. Ratios apply to prices per token, and
 * `price` applies to prices per call or per second.
 */
export type CorrectedRatios = Readonly<
  Partial<
    Record<
      | 'model'
      | 'completion'
      | 'cacheRead'
      | 'cacheWrite'
      | 'image'
      | 'audio'
      | 'audioCompletion'
      | 'imageCompletion'
      | 'price'
      | 'group',
      DecimalText
    >
  >
>

/** Returns the corrected price, or null if no member of the correction applies to the price. */
export function applyPriceCorrection(
  snapshot: PriceSnapshot,
  change: CorrectedRatios,
): PriceSnapshot | null {
  const { price, group, ...ratios } = change
  const ofGroup = group === undefined ? {} : { group }
  if (snapshot.mode === 'tokens') {
    if (Object.keys({ ...ratios, ...ofGroup }).length === 0) return null
    return { ...snapshot, ...ratios, ...ofGroup } satisfies PerTokenPrice
  }
  if (price === undefined && group === undefined) return null
  const ofCall = price === undefined ? {} : { price }
  return { ...snapshot, ...ofCall, ...ofGroup } satisfies PerCallPrice
}

/**
 * The data about a call that is needed to compute the call's charge at another price. `unpaidUsage`
 * is the full usage if the account did not pay for all of it.
 */
export type ChargedUsage = {
  readonly price: PriceSnapshot
  readonly usage: Usage
  readonly unpaidUsage?: Usage
  readonly calls?: number
  readonly charge: number
}

/**
 * Returns what a call costs at another price. If the account could not pay for the full usage, only
 * a part of the usage was charged. At a lower price, the original charge covers a larger part of
 * the usage. The result is therefore the cost of the full usage if this cost is at most the
 * original charge. If the full usage costs more than the original charge, the result is the
 * original charge or the cost of the charged part, whichever is higher.
 */
export function chargeAtPrice(call: ChargedUsage, price: PriceSnapshot): bigint {
  const { usage, unpaidUsage, calls } = call
  const charge = chargeFor(price, usage, calls)
  if (unpaidUsage === undefined) return charge
  const requested = calls ?? (hasUsage(usage) ? 1 : 0)
  const full = chargeFor(price, unpaidUsage, callsFor(price, unpaidUsage, requested, true))
  const original = BigInt(call.charge)
  if (full <= original) return full
  return charge > original ? charge : original
}
