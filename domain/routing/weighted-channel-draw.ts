import type { Candidate, Offer, Stratum } from './channels-by-group-and-model.ts'

/**
 * After this number of unusable channels in a stratum (channels of one priority), all unusable
 * channels of the stratum are removed in one pass.
 */
const UNFIT_MAX = 8

/**
 * Draws the channels of an offer in random order, each at most once, stratum by stratum (channels
 * of one priority). Within a stratum, a channel's probability is proportional to its weight.
 * `random` returns numbers in [0, 1).
 */
export class Draw<C extends Candidate> {
  private readonly offer: Offer<C>
  private readonly isFit: (channel: C) => boolean
  private readonly random: () => number
  private place = -1
  private stratum: Stratum<C> = { channels: [], sums: [] }
  /** The indexes already drawn from the current stratum, in ascending order. */
  private taken: number[] = []
  private unfit = 0

  constructor(offer: Offer<C>, isFit: (channel: C) => boolean, random: () => number) {
    this.offer = offer
    this.isFit = isFit
    this.random = random
  }

  /** Returns the next channel that `isFit` accepts, or null. */
  next(): C | null {
    for (;;) {
      const { channels } = this.stratum
      if (this.taken.length >= channels.length) {
        if (!this.moveOn()) return null
        continue
      }
      const drawn = this.draw()
      if (drawn !== undefined && this.isFit(drawn)) return drawn
      this.unfit += 1
      if (this.unfit === UNFIT_MAX) this.leaveOutUnfit()
    }
  }

  private moveOn(): boolean {
    this.place += 1
    const stratum = this.offer[this.place]
    if (stratum === undefined) return false
    this.stratum = stratum
    this.unfit = 0
    if (this.taken.length > 0) this.taken = []
    return true
  }

  private draw(): C | undefined {
    const { channels, sums } = this.stratum
    const index = channels.length === 1 ? 0 : indexAt(sums, this.taken, this.random())
    let place = this.taken.length
    while (place > 0 && (this.taken[place - 1] ?? 0) > index) place -= 1
    this.taken.splice(place, 0, index)
    return channels[index]
  }

  /**
   * Removes all unfit channels of the stratum in one pass. A stratum may have a thousand channels,
   * and drawing them one by one would delay the call.
   */
  private leaveOutUnfit(): void {
    const { channels, sums } = this.stratum
    const left: C[] = []
    const leftSums: number[] = []
    let before = 0
    let sum = 0
    let drawn = 0
    for (const [index, channel] of channels.entries()) {
      const upTo = sums[index] ?? before
      const share = upTo - before
      before = upTo
      if (this.taken[drawn] === index) drawn += 1
      else if (this.isFit(channel)) {
        sum += share
        left.push(channel)
        leftSums.push(sum)
      }
    }
    this.stratum = { channels: left, sums: leftSums }
    this.taken = []
  }
}

/**
 * Returns the index of a channel that was not drawn yet: the one at the point `share` (0 to 1) of
 * the remaining total weight.
 */
function indexAt(sums: readonly number[], taken: readonly number[], share: number): number {
  const startOf = (index: number): number => (index === 0 ? 0 : (sums[index - 1] ?? 0))
  let left = sums.at(-1) ?? 0
  for (const index of taken) left -= (sums[index] ?? 0) - startOf(index)
  let point = share * left
  for (const index of taken) {
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
  while (low > 0 && taken.includes(low)) low -= 1
  return low
}
