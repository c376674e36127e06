export type ConcurrencyCaps = {
  /** Of this process, whose memory and connections they take. */
  readonly total: number
  readonly perUser: number
  readonly perToken: number
}

export const DEFAULT_CAPS: ConcurrencyCaps = { total: 2_000, perUser: 1_000, perToken: 1_000 }

/** How many calls this process has under way. */
export class CallsUnderWay {
  private count = 0
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  /** True when one more may go on; it must then `release` once. */
  enter(): boolean {
    if (this.count >= this.most) return false
    this.count += 1
    return true
  }

  release(): void {
    this.count -= 1
  }
}
