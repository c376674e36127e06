import { type PriceList, zeroPrices } from '#domain/pricing/price-list.ts'
import type { Views } from '#relay/views/views.ts'

/** A price list never changes: another one takes its place. */
const ZERO_PRICES = new WeakMap<PriceList, ReturnType<typeof zeroPrices>>()

/** False only where every chat costs something, whichever group and model it names. */
export function isAnyChatFree({ options: { prices }, channels }: Views): boolean {
  const known = ZERO_PRICES.get(prices)
  const zero = known ?? zeroPrices(prices)
  if (known === undefined) ZERO_PRICES.set(prices, zero)
  return zero === 'any' || zero.some((model) => channels.isKnown(model))
}
