import type { Offer } from '#domain/routing/channels-by-group-and-model.ts'

type Expiring = {
  /** `expiredTime` is in Unix seconds. The channel never expires if it is 0 or less. */
  readonly terms: { readonly expiredTime: number }
}

/**
 * Reports whether at least one channel of the offer has not expired at `now`, in Unix milliseconds.
 */
export function hasUnexpiredChannel(offer: Offer<Expiring>, now: number): boolean {
  for (const { channels } of offer) {
    for (const { terms } of channels) if (isUnexpired(terms, now)) return true
  }
  return false
}

/** Reports whether a channel has not expired at `now`, in Unix milliseconds. */
export const isUnexpired = ({ expiredTime }: Expiring['terms'], now: number): boolean =>
  expiredTime <= 0 || expiredTime * 1_000 > now
