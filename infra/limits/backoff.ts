import { BACKOFF_FIRST_MS, type BackoffClaim } from './port.ts'

/** Tries that were made, and the wait they have earned. */
export class Backoff {
  private tries = 0
  private lastAt = 0
  private forgetMs = 0

  /** 0 when one more try may be made, else milliseconds until then. Counts nothing. */
  waitMs({ freeTries, delayMsMax }: BackoffClaim, now: number): number {
    if (this.isIdle(now)) this.tries = 0
    if (this.tries < freeTries) return 0
    const delayMs = Math.min(delayMsMax, BACKOFF_FIRST_MS * 2 ** (this.tries - freeTries))
    return this.lastAt > now ? 0 : Math.max(0, this.lastAt + delayMs - now)
  }

  take({ forgetMs }: BackoffClaim, now: number): void {
    this.tries += 1
    this.lastAt = now
    this.forgetMs = forgetMs
  }

  isIdle(now: number): boolean {
    return this.lastAt <= now - this.forgetMs
  }
}
