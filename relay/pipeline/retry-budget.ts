const SHARE = 0.2
const LEAST = 3

/** Tries beyond the first, over all calls: a fifth of those under way, against storms. */
export class RetryBudget {
  private underWay = 0

  enter(callsUnderWay: number): boolean {
    if (this.underWay >= Math.max(LEAST, callsUnderWay * SHARE)) return false
    this.underWay += 1
    return true
  }

  leave(): void {
    this.underWay -= 1
  }
}
