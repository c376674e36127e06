import type { Offer } from '#domain/routing/channels-by-group-and-model.ts'
import type { RelayChannel } from '../views/channel-view.ts'

/**
 * Reports whether at least one channel of the offer has not expired at `now`, in Unix milliseconds.
 */
export function hasUnexpiredChannel(offer: Offer<RelayChannel>, now: number): boolean {
  for (const { channels } of offer) {
    for (const { terms } of channels) if (isUnexpired(terms, now)) return true
  }
  return false
}

/**
 * Reports whether a channel has not expired. An expiry time of 0 or less means that the channel
 * never expires.
 */
export const isUnexpired = ({ expiredTime }: RelayChannel['terms'], now: number): boolean =>
  expiredTime <= 0 || expiredTime * 1_000 > now
