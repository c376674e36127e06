/** How long each part of a call may take, in milliseconds. */
export type Deadlines = {
  readonly connectMs: number
  /** From dispatch to the provider's head, or its first event. */
  readonly firstByteMs: number
  /** Between two pieces of an answer. */
  readonly idleMs: number
  readonly totalMs: number
  /** For the hold to be durable: a slow store reads and appends several times, one by one. */
  readonly admitMs: number
  /**
   * For the ledger to be closed. Longer than the store tries (10 s): an answer that is refused for
   * want of them must not be in them a moment later.
   */
  readonly settleMs: number
  /** After its caller left, an answer is read on for its usage: a plain one for so long … */
  readonly readOnPlainMs: number
  /** … and a stream that had finished for so long. */
  readonly readOnStreamMs: number
  /** A caller that takes nothing for so long is gone. */
  readonly writeStallMs: number
  /** In a drain, an upload that brings nothing for so long is given up. */
  readonly uploadStallMs: number
  readonly leaseMs: number
  readonly renewMs: number
  readonly progressMs: number
  readonly progressBytes: number
}

export const DEFAULT_DEADLINES: Deadlines = {
  connectMs: 5_000,
  firstByteMs: 60_000,
  idleMs: 120_000,
  totalMs: 30 * 60_000,
  admitMs: 15_000,
  settleMs: 15_000,
  readOnPlainMs: 120_000,
  readOnStreamMs: 10_000,
  writeStallMs: 60_000,
  uploadStallMs: 10_000,
  leaseMs: 60_000,
  renewMs: 20_000,
  progressMs: 4_000,
  progressBytes: 64 * 1024,
}

/**
 * Something with deadlines of its own, looked at on every tick until it answers false. `now` is
 * monotonic time in milliseconds (`performance.now()`): setting the clock ends nothing.
 */
export type Watched = { readonly watch: (now: number) => boolean }

const TICK_MS = 100

/**
 * The one timer of the relay: on every tick everything under way compares the time with its own
 * deadlines. Two thousand comparisons cost less than two timers armed and cleared for every call.
 */
export class Watch {
  private readonly watched = new Set<Watched>()
  private timer: NodeJS.Timeout | null = null
  add(watched: Watched): void {
    this.watched.add(watched)
    this.timer ??= setInterval(() => this.tick(), TICK_MS)
  }

  remove(watched: Watched): void {
    this.watched.delete(watched)
  }

  close(): void {
    if (this.timer !== null) clearInterval(this.timer)
    this.watched.clear()
  }

  private tick(): void {
    const now = performance.now()
    for (const watched of this.watched) {
      if (!watched.watch(now)) this.watched.delete(watched)
    }
  }
}
