/**
 * The charges of a session that are being written to the event store. A session ends only after
 * these charges are written, because a process that shuts down exits as soon as its sessions have
 * ended.
 */
export class ChargesInProgress {
  private readonly charges = new Set<Promise<unknown>>()

  get isEmpty(): boolean {
    return this.charges.size === 0
  }

  /** Waits for a charge and returns its result. Until then, the charge counts as in progress. */
  async track<T>(charge: Promise<T>): Promise<T> {
    this.charges.add(charge)
    try {
      return await charge
    } finally {
      this.charges.delete(charge)
    }
  }

  /** Resolves when no charge is in progress, even if charges have failed. */
  async allWritten(): Promise<void> {
    while (!this.isEmpty) await Promise.allSettled(this.charges)
  }
}
