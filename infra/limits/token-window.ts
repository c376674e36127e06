import { TOKENS_PERIOD_MS, type TokensClaim } from './port.ts'

type Amount = { readonly at: number; tokens: number }

/** The tokens of one caller's last minute, call by call, oldest first, and their sum. */
export class TokenWindow {
  private readonly amounts: Amount[] = []
  private sum = 0

  /** 0 when the estimate fits, else milliseconds until it does. Takes nothing. */
  waitMs({ max, estimate }: TokensClaim, now: number): number {
    const since = now - TOKENS_PERIOD_MS
    let past = 0
    for (const { at, tokens } of this.amounts) {
      // A time to come was taken before the clock was set back.
      if (at > since && at <= now) break
      this.sum -= tokens
      past += 1
    }
    if (past > 0) this.amounts.splice(0, past)
    let left = this.sum
    if (left === 0 || left + estimate <= max) return 0
    for (const { at, tokens } of this.amounts) {
      left -= tokens
      if (left === 0 || left + estimate <= max) return Math.max(1, at - since)
    }
    return 0
  }

  take({ estimate }: TokensClaim, now: number): void {
    this.amounts.push({ at: now, tokens: estimate })
    this.sum += estimate
  }

  /** Replaces an estimate that is still in the window. */
  correct({ estimate }: TokensClaim, takenAt: number, tokens: number): void {
    const amount = this.amounts.findLast(
      (candidate) => candidate.at === takenAt && candidate.tokens === estimate,
    )
    if (amount === undefined) return
    amount.tokens = tokens
    this.sum += tokens - estimate
  }

  isIdle(now: number): boolean {
    return (this.amounts.at(-1)?.at ?? 0) <= now - TOKENS_PERIOD_MS
  }
}
