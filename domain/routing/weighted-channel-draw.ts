import type { Candidate, Offer, PriorityTier } from './channels-by-group-and-model.ts'

/**
 * A tier contains channels of one priority. After this number of unusable channels have been drawn
 * from a tier, all unusable channels of the tier are removed in one pass.
 */
const UNUSABLE_DRAWS_MAX = 8

/**
 * Draws the channels of an offer in random order, each at most once. The tiers of the offer are
 * used up one after the other. Within a tier, a channel's probability is proportional to its
 * weight. `random` returns numbers in [0, 1).
 */
export class ChannelDraw<C extends Candidate> {
  private readonly offer: Offer<C>
  private readonly isFit: (channel: C) => boolean
  private readonly random: () => number
  private tierIndex = -1
  private tier: PriorityTier<C> = { channels: [], sums: [] }
  /** The indexes already drawn from the current tier, in ascending order. */
  private drawn: number[] = []
  private unfit = 0

  constructor(offer: Offer<C>, isFit: (channel: C) => boolean, random: () => number) {
    this.offer = offer
    this.isFit = isFit
    this.random = random
  }

  /** Returns the next drawn channel that `isFit` accepts, or null if no such channel is left. */
  next(): C | null {
    for (;;) {
      const { channels } = this.tier
      if (this.drawn.length >= channels.length) {
        if (!this.moveOn()) return null
        continue
      }
      const drawn = this.draw()
      if (drawn !== undefined && this.isFit(drawn)) return drawn
      this.unfit += 1
      if (this.unfit === UNUSABLE_DRAWS_MAX) this.leaveOutUnfit()
    }
  }

  private moveOn(): boolean {
    this.tierIndex += 1
    const tier = this.offer[this.tierIndex]
    if (tier === undefined) return false
    this.tier = tier
    this.unfit = 0
    if (this.drawn.length > 0) this.drawn = []
    return true
  }

  private draw(): C | undefined {
    const { channels, sums } = this.tier
    const index = channels.length === 1 ? 0 : indexAt(sums, this.drawn, this.random())
    let insertAt = this.drawn.length
    while (insertAt > 0 && (this.drawn[insertAt - 1] ?? 0) > index) insertAt -= 1
    this.drawn.splice(insertAt, 0, index)
    return channels[index]
  }

  /**
   * Removes all unusable channels of the tier in one pass. A tier may have a thousand channels, so
   * drawing them one by one would delay the call.
   */
  private leaveOutUnfit(): void {
    const { channels, sums } = this.tier
    const left: C[] = []
    const leftSums: number[] = []
    let before = 0
    let sum = 0
    let drawn = 0
    for (const [index, channel] of channels.entries()) {
      const upTo = sums[index] ?? before
      const share = upTo - before
      before = upTo
      if (this.drawn[drawn] === index) drawn += 1
      else if (this.isFit(channel)) {
        sum += share
        left.push(channel)
        leftSums.push(sum)
      }
    }
    this.tier = { channels: left, sums: leftSums }
    this.drawn = []
  }
}

/**
 * Returns the index of a channel that is not drawn yet. `share` (0 to 1) selects a point in the
 * total weight of the channels that are not drawn yet.
 */
function indexAt(sums: readonly number[], drawn: readonly number[], share: number): number {
  const startOf = (index: number): number => (index === 0 ? 0 : (sums[index - 1] ?? 0))
  let left = sums.at(-1) ?? 0
  for (const index of drawn) left -= (sums[index] ?? 0) - startOf(index)
  let point = share * left
  for (const index of drawn) {
    if (point < startOf(index)) break
    point += (sums[index] ?? 0) - startOf(index)
  }
  let low = 0
  let high = sums.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] ?? 0) > point) high = middle
    else low = middle + 1
  }
  // Because of rounding, a share close to 1 may select a channel that was already drawn.
  while (low > 0 && drawn.includes(low)) low -= 1
  return low
}
