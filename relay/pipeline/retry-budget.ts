const SHARE = 0.2
/**
 * The number of retries under way that is always allowed. On a small site, every call of a burst
 * may need a retry to reach the one channel that works.
 */
const LEAST = 24

/** Limits retries to a fifth of the calls under way, or 24, to prevent retry storms. */
export class RetryBudget {
  private underWay = 0

  enter(callsUnderWay: number): boolean {
    if (this.underWay >= Math.max(LEAST, callsUnderWay * SHARE)) return false
    this.underWay += 1
    return true
  }

  release(): void {
    this.underWay -= 1
  }
}
