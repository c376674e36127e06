import type { Quota } from '../shared/quota.ts'
import { chargeFor, hasUsage } from './charge.ts'
import type { PriceSnapshot } from './price.ts'
import { type PriceList, priceOf } from './price-list.ts'
import type { Usage } from './usage.ts'

/** A call that was charged, as its event tells it. */
export type PastCall = {
  readonly model: string
  readonly group: string
  readonly userGroup: string
  readonly usage: Usage
  /** As in the event: left out where the usage alone tells it. */
  readonly calls?: number | undefined
}

/**
 * What past calls would have cost at another price list; null for one that it would have refused.
 * Prices are looked up once for each model and pair of groups.
 */
export function draftCharges(
  list: PriceList,
): (call: PastCall, acceptsUnpriced: boolean) => Quota | null {
  const known = new Map<string, PriceSnapshot | null>()
  return ({ model, group, userGroup, usage, calls }, acceptsUnpriced) => {
    const key = JSON.stringify([model, group, userGroup, acceptsUnpriced])
    let price = known.get(key)
    if (price === undefined) {
      const found = priceOf(list, model, group, { userGroup, acceptsUnpriced })
      price = 'refused' in found ? null : found
      known.set(key, price)
    }
    return price === null ? null : chargeFor(price, usage, calls ?? (hasUsage(usage) ? 1 : 0))
  }
}
