import { callsFor, chargeFor, hasUsage } from './charge.ts'
import type { DecimalText, PerCallPrice, PerTokenPrice, PriceSnapshot } from './price.ts'
import type { Usage } from './usage.ts'

/**
 * The ratios or the dollars that a price should have had. What is omitted stays as it was, and so
 * do tiers, tools, conditions and factors. A change of ratios applies to prices per token, and a
 * change of `price` to prices per call or second.
 */
export type PriceChange = Readonly<
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

/** Returns the price with the change, or null if no member of the change applies to it. */
export function changedPrice(snapshot: PriceSnapshot, change: PriceChange): PriceSnapshot | null {
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

/** What a call was charged for. `unpaidUsage` is its full usage if it was not paid in full. */
export type ChargedUsage = {
  readonly price: PriceSnapshot
  readonly usage: Usage
  readonly unpaidUsage?: Usage
  readonly calls?: number
  readonly charge: number
}

/**
 * Returns what a call costs at another price. If the account could not pay for the full usage, the
 * full usage counts as far as the original charge covers it, because a lower price pays for more.
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
