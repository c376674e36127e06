import {
  channelsIn,
  type Offer,
  oncePerOffer,
} from '#domain/routing/channels-by-group-and-model.ts'
import type { FormatName } from '../dialects/wire-format.ts'
import type { RelayChannel } from '../views/channel-view.ts'

/**
 * Returns a function that reports whether `holds` is true of at least one channel of an offer, for
 * calls of a model in a format. The answers are cached for each offer.
 */
export function anyChannelOncePerModel(
  holds: (channel: RelayChannel, format: FormatName, model: string) => boolean,
): (offer: Offer<RelayChannel>, format: FormatName, model: string) => boolean {
  const answersOf = oncePerOffer((_offer: Offer<RelayChannel>) => new Map<string, boolean>())
  return (offer, format, model) => {
    const answers = answersOf(offer)
    const key = `${format} ${model}`
    const existing = answers.get(key)
    if (existing !== undefined) return existing
    const answer = channelsIn(offer).some((channel) => holds(channel, format, model))
    answers.set(key, answer)
    return answer
  }
}
