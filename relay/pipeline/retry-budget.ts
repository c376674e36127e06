/** The maximum number of concurrent retries, as a share of the running calls. */
const RETRY_SHARE_MAX = 0.2
/**
 * The number of concurrent retries that are always allowed. On a small site, every call of a burst
 * may need a retry to reach the only working channel.
 */
const RETRIES_ALWAYS_ALLOWED = 24

/**
 * Prevents retry storms: limits concurrent retries to a share of the running calls, but always
 * allows a minimum number.
 */
export class RetryBudget {
  private underWay = 0

  enter(callsUnderWay: number): boolean {
    if (this.underWay >= Math.max(RETRIES_ALWAYS_ALLOWED, callsUnderWay * RETRY_SHARE_MAX))
      return false
    this.underWay += 1
    return true
  }

  release(): void {
    this.underWay -= 1
  }
}
