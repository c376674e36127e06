/** The maximum numbers of calls that run at the same time: in this process, and in all of them. */
export type ConcurrencyCaps = {
  /** For one process, where it bounds memory and connections. */
  readonly total: number
  /** For one user, in all processes. */
  readonly perUser: number
  /** For one token, in all processes. */
  readonly perToken: number
}

/** The default maximum numbers. */
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
