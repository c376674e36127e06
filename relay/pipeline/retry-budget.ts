/** The maximum number of concurrent retries, as a share of the running calls. */
const SHARE = 0.2
/**
 * The number of concurrent retries that are always allowed. On a small site, every call of a burst
 * may need a retry to reach the only working channel.
 */
const LEAST = 24

/**
 * Prevents retry storms: limits concurrent retries to a share of the running calls, but always
 * allows a minimum number.
 */
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
