import type { RedemptionTerms } from './events.ts'

export type KnownRedemption = {
  readonly id: number
  readonly keyRef: string
  readonly terms: RedemptionTerms
  readonly isDisabled: boolean
  /** Who had it: each once. */
  readonly userIds: Set<number>
}

/** null: no code has this key, or none any more. */
export type RedemptionState = { code: KnownRedemption | null }

export const noRedemption = (): RedemptionState => ({ code: null })

/** 1 unused, 2 disabled, 3 used. A gift stays unused, however many had it. */
export const statusOf = ({ terms, isDisabled, userIds }: KnownRedemption): 1 | 2 | 3 => {
  if (!terms.isGift && userIds.size > 0) return 3
  return isDisabled ? 2 : 1
}
