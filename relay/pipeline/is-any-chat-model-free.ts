import { type PriceList, zeroPrices } from '#domain/pricing/price-list.ts'
import type { Views } from '#relay/views/start-views.ts'

/** The free models of each price list, cached because price lists are immutable. */
const ZERO_PRICES = new WeakMap<PriceList, ReturnType<typeof zeroPrices>>()

/** Reports whether a chat may be free for some group and model. */
export function isAnyChatFree({ options: { prices }, channels }: Views): boolean {
  const known = ZERO_PRICES.get(prices)
  const zero = known ?? zeroPrices(prices)
  if (known === undefined) ZERO_PRICES.set(prices, zero)
  return zero === 'any' || zero.some((model) => channels.isKnown(model))
}
