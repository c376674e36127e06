type QueueLimits = {
  readonly runningMax: number
  /** The maximum total weight of the operations that run or wait, such as their bytes. */
  readonly weightMax: number
}

/** Runs a bounded number of operations at the same time. Others wait for their turn. */
export class OperationQueue {
  private readonly limits: QueueLimits
  private readonly waiting: (() => void)[] = []
  private running = 0
  private weight = 0

  constructor(limits: QueueLimits) {
    this.limits = limits
  }

  /** True if no operation runs or waits. */
  get isEmpty(): boolean {
    return this.running === 0
  }

  /** Runs an operation. Rejects if too many others wait already. */
  async run<T>(weight: number, operation: () => Promise<T>): Promise<T> {
    const { runningMax, weightMax } = this.limits
    if (this.weight + weight > weightMax) throw new Error('too many operations of the store wait')
    this.weight += weight
    if (this.running < runningMax) this.running += 1
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
    try {
      return await operation()
    } finally {
      this.weight -= weight
      const next = this.waiting.shift()
      // The next operation takes the place of this one.
      if (next === undefined) this.running -= 1
      else next()
    }
  }
}
