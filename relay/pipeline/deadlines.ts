/** How long each part of a call may take, in milliseconds. */
export type Deadlines = {
  readonly connectMs: number
  /** From dispatch to the first event of a stream. */
  readonly firstByteMs: number
  /**
   * From dispatch to the first byte of a plain answer. Providers send it when the whole answer is
   * there, which takes reasoning models minutes.
   */
  readonly firstBytePlainMs: number
  /** Between two pieces of an answer. */
  readonly idleMs: number
  readonly totalMs: number
  /** For the hold to be durable: a slow store reads and appends several times, one by one. */
  readonly admitMs: number
  /**
   * For the call's end to be durable. Longer than the store tries (10 s), so that a call whose
   * caller was told that its end could not be written is not written to the ledger a moment later.
   */
  readonly settleMs: number
  /** How long a plain answer is read for its usage after its caller has left. */
  readonly readOnPlainMs: number
  /** How long a stream that has only its usage left is read after its caller has left. */
  readonly readOnStreamMs: number
  /** A caller that takes no byte for this long counts as gone. */
  readonly writeStallMs: number
  /** In a drain, an upload that brings no byte for this long is refused. */
  readonly uploadStallMs: number
  readonly leaseMs: number
  readonly renewMs: number
  readonly progressMs: number
  readonly progressBytes: number
}

export const DEFAULT_DEADLINES: Deadlines = {
  connectMs: 5_000,
  firstByteMs: 60_000,
  firstBytePlainMs: 300_000,
  idleMs: 120_000,
  totalMs: 30 * 60_000,
  admitMs: 15_000,
  settleMs: 15_000,
  readOnPlainMs: 300_000,
  readOnStreamMs: 10_000,
  writeStallMs: 60_000,
  uploadStallMs: 10_000,
  leaseMs: 60_000,
  renewMs: 20_000,
  progressMs: 4_000,
  progressBytes: 64 * 1024,
}

/**
 * Work that has deadlines. `watch` is called on every tick until it returns false. `now` is
 * monotonic time in milliseconds (`performance.now()`), so that setting the clock ends nothing.
 */
export type Watched = { readonly watch: (now: number) => boolean }

const TICK_MS = 100

/**
 * The only timer of the relay. On every tick all work under way compares the time with its
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
