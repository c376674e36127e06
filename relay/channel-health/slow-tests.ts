/** How many of each channel's scheduled tests in a row were too slow. */
export class SlowTests {
  private readonly counts = new Map<number, number>()

  /** True once `most` in a row were; then it is counted anew. */
  isTooOften(channelId: number, isSlow: boolean, most: number): boolean {
    const count = isSlow ? (this.counts.get(channelId) ?? 0) + 1 : 0
    if (count === 0 || count >= most) this.counts.delete(channelId)
    else this.counts.set(channelId, count)
    return count >= most
  }
}
