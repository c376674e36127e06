/** The maximum numbers of calls that run at the same time, in one process and in all processes. */
export type ConcurrencyCaps = {
  /** The maximum in one process. It limits the memory and the connections that the process uses. */
  readonly total: number
  /** The maximum for one user in all processes together. */
  readonly perUser: number
  /** The maximum for one token in all processes together. */
  readonly perToken: number
}

export const DEFAULT_CAPS: ConcurrencyCaps = { total: 2_000, perUser: 1_000, perToken: 1_000 }

/** Counts the running calls of this process. */
export class RunningCallCount {
  private count = 0
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  /**
   * Returns true if one more call may run. After a result of true, `release` must be called once.
   */
  enter(): boolean {
    if (this.count >= this.most) return false
    this.count += 1
    return true
  }

  release(): void {
    this.count -= 1
  }
}
