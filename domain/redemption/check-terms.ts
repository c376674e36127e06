import { isInRange } from '../shared/quota.ts'
import { refuse } from '../shared/refusal.ts'
import type { RedemptionTerms } from './events.ts'
import type { RedemptionRefusal } from './refusals.ts'

export const REDEMPTION_NAME_MAX = 20

/** What is wrong with the terms of a code that was used `uses` times; null when nothing is. */
export function faultOfTerms(terms: RedemptionTerms, uses: number): RedemptionRefusal | null {
  const { name, quota, isGift, maxUses, validFrom, validUntil } = terms
  const characters = [...name.trim()].length
  if (characters === 0 || characters > REDEMPTION_NAME_MAX) return refuse('RedemptionNameLength')
  if (quota <= 0 || !isInRange(BigInt(quota))) return refuse('RedemptionQuotaTooSmall')
  if (!isGift && uses > 0) return refuse('GiftInUse')
  const least = Math.max(1, uses)
  if (maxUses !== null && maxUses < least) return refuse('MaxUsesTooFew', { least })
  if (validFrom !== null && validUntil !== null && validFrom >= validUntil) {
    return refuse('ValidityOrder')
  }
  return null
}
