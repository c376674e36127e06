/** How many failures are too many. */
export type BreakerRule = {
  readonly isEnabled: boolean
  /** In a row. */
  readonly failures: number
  /** Or this share of all, in percent, of at least `rateCalls` calls within the window. */
  readonly ratePercent: number
  readonly rateCalls: number
  readonly windowMs: number
}

const PARTS = 6

/** Failures of one circuit's calls, and its successes since the first of them. */
export class Tally {
  private run = 0
  private failedAt = 0
  private readonly parts: { slot: number; well: number; failed: number }[] = []

  succeed(now: number, { windowMs }: BreakerRule): void {
    this.run = 0
    this.part(now, windowMs).well += 1
  }

  fail(now: number, { windowMs }: BreakerRule): void {
    if (now - this.failedAt > windowMs) this.run = 0
    this.run += 1
    this.failedAt = now
    this.part(now, windowMs).failed += 1
  }

  isTooMuch({ failures, ratePercent, rateCalls }: BreakerRule): boolean {
    if (this.run >= failures) return true
    const { failed, calls } = this.counts()
    return calls >= rateCalls && failed * 100 >= ratePercent * calls
  }

  /** Those that were too many. */
  failuresBy({ failures }: BreakerRule): number {
    return this.run >= failures ? this.run : this.counts().failed
  }

  isOver(now: number, { windowMs }: BreakerRule): boolean {
    return now - this.failedAt > windowMs
  }

  private counts(): { failed: number; calls: number } {
    let failed = 0
    let calls = 0
    for (const part of this.parts) {
      failed += part.failed
      calls += part.failed + part.well
    }
    return { failed, calls }
  }

  private part(now: number, windowMs: number) {
    const slot = Math.floor((now * PARTS) / windowMs)
    while ((this.parts[0]?.slot ?? slot) <= slot - PARTS) this.parts.shift()
    const last = this.parts.at(-1)
    if (last !== undefined && last.slot >= slot) return last
    const part = { slot, well: 0, failed: 0 }
    this.parts.push(part)
    return part
  }
}
