/** At most so many in any stretch of so long. */
export type RateLimit = { readonly max: number; readonly periodMs: number }

/**
 * The times of one caller's latest acts, oldest first. Exact at the edge of any period, where
 * counters that restart every minute let twice as many through.
 */
export class RateWindow {
  private readonly times: number[] = []
  private periodMs = 0

  /** 0 when one more fits, else milliseconds until it does. Takes nothing. */
  waitMs({ max, periodMs }: RateLimit, now: number): number {
    const { times } = this
    const since = now - periodMs
    let past = 0
    while (past < times.length && (times[past] ?? 0) <= since) past += 1
    if (past > 0) times.splice(0, past)
    const limiting = times[times.length - max]
    // A time to come was taken before the clock was set back: nobody waits for that.
    return limiting === undefined || limiting > now ? 0 : limiting - since
  }

  take({ periodMs }: RateLimit, now: number): void {
    this.periodMs = periodMs
    this.times.push(now)
  }

  giveBack(takenAt: number): void {
    const at = this.times.lastIndexOf(takenAt)
    if (at >= 0) this.times.splice(at, 1)
  }

  isIdle(now: number): boolean {
    return (this.times.at(-1) ?? 0) <= now - this.periodMs
  }
}
