/** At most so many calls in any stretch of so long. */
export type RateLimit = { readonly count: number; readonly periodMs: number }

/**
 * The times of one caller's latest calls: as many as the limit, oldest first. Exact at the edge of
 * any period, where counters that restart every minute let twice as many through.
 */
export class RateWindow {
  private times: number[] = []

  /** 0 when the call fits, else milliseconds until one does. Takes nothing. */
  waitMs({ count, periodMs }: RateLimit, now: number): number {
    const since = now - periodMs
    let past = 0
    while (past < this.times.length && (this.times[past] ?? 0) <= since) past += 1
    if (past > 0) this.times.splice(0, past)
    if (this.times.length < count) return 0
    return (this.times[this.times.length - count] ?? now) - since
  }

  take(now: number): void {
    this.times.push(now)
  }

  /** For counts of successes: the call taken in advance did not succeed. */
  giveBack(): void {
    this.times.pop()
  }

  isIdle(now: number, periodMs: number): boolean {
    return (this.times.at(-1) ?? 0) <= now - periodMs
  }
}

/** A window for each token, user or address that called lately. */
export class RateWindows {
  private readonly windows = new Map<number | string, RateWindow>()

  of(key: number | string): RateWindow {
    const known = this.windows.get(key)
    if (known !== undefined) return known
    const window = new RateWindow()
    this.windows.set(key, window)
    return window
  }

  /** Forgets whoever was quiet for `periodMs`. */
  sweep(now: number, periodMs: number): void {
    for (const [key, window] of this.windows) {
      if (window.isIdle(now, periodMs)) this.windows.delete(key)
    }
  }
}
