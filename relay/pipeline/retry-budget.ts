const SHARE = 0.2
/** A burst of a small site: its calls all find the channel that works. */
const LEAST = 24

/** Tries beyond the first, over all calls: a fifth of those under way, or 24, against storms. */
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
