import { holdFor, outputTokensWithin } from '../pricing/hold.ts'
import type { PriceSnapshot } from '../pricing/price.ts'
import type { Quota } from '../shared/quota.ts'
import type { OutputReduction } from './commands.ts'

/** Up to this many tokens of each choice may take all that is free; beyond it, half of it. */
const MODEST_OUTPUT_TOKENS = 4_096

/**
 * The output limit that `payable` covers and the hold for it; null when it covers less than the
 * least. A larger limit takes half of what is free, so that one call does not shut out the next.
 */
export function reduceOutput(
  price: PriceSnapshot,
  { bounds, leastOutputTokens, mostOutputTokens }: OutputReduction,
  payable: Quota,
): { readonly outputLimit: number; readonly hold: Quota } | null {
  const within = (most: Quota) => outputTokensWithin(price, bounds, most) ?? 0
  const modest = Math.min(within(payable), MODEST_OUTPUT_TOKENS)
  const outputLimit = Math.min(Math.max(modest, within(payable / 2n)), mostOutputTokens)
  const hold = holdFor(price, { ...bounds, outputTokens: outputLimit })
  return outputLimit < leastOutputTokens || hold > payable ? null : { outputLimit, hold }
}
