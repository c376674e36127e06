import { DenseList, type Place } from '../dense-list.ts'

export type Deadlines = {
  readonly connectMs: number
  /** The maximum time from sending the request to the first event of a stream. */
  readonly firstByteMs: number
  /**
   * The maximum time from sending the request to the first byte of a plain answer (not a stream).
   * It is long, because providers send a plain answer only when it is complete. With reasoning
   * models, this takes minutes.
   */
  readonly firstBytePlainMs: number
  /** The maximum time between two chunks of an answer. */
  readonly idleMs: number
  readonly totalMs: number
  /**
   * The maximum time until the call's hold (reserved quota) is durable. An admission may need
   * several reads and appends in sequence.
   */
  readonly admitMs: number
  /**
   * The maximum time until the end of the call is durable. It is longer than the 10 s after which
   * the event store gives up. Otherwise, a call could be settled after its caller received an
   * error.
   */
  readonly settleMs: number
  /**
   * The maximum time for which a plain answer is read for its usage after the caller has
   * disconnected.
   */
  readonly readOnPlainMs: number
  /**
   * The maximum time for which a stream is read after the caller has disconnected. The stream is
   * only read if nothing but its usage is missing.
   */
  readonly readOnStreamMs: number
  /**
   * The time after which a caller is treated as disconnected if the caller's connection accepts no
   * byte.
   */
  readonly writeStallMs: number
  /**
   * The time without a received byte after which an upload is refused. It applies only while the
   * relay shuts down.
   */
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
 * An object with a `watch` method, which `Watch` calls on every tick until the method returns
 * false. `now` is the monotonic time of `performance.now()`, so that changing the wall clock ends
 * no call.
 */
export type Watched = { readonly watch: (now: number) => boolean }

const TICK_MS = 100

/**
 * The only timer of the relay. On every tick, it compares the time with the deadlines of each call.
 * Two thousand comparisons cost less than starting and clearing two timers for every call.
 */
export class Watch {
  private readonly watched = new DenseList<Watched>()
  private timer: NodeJS.Timeout | null = null

  /** Adds an object to watch. Returns the position with which `remove` finds the object. */
  add(watched: Watched): Place<Watched> {
    this.timer ??= setInterval(() => this.tick(), TICK_MS)
    return this.watched.add(watched)
  }

  remove(place: Place<Watched>): void {
    this.watched.remove(place)
  }

  close(): void {
    if (this.timer !== null) clearInterval(this.timer)
    this.watched.clear()
  }

  private tick(): void {
    const now = performance.now()
    for (const place of this.watched) {
      if (!place.member.watch(now)) this.watched.remove(place)
    }
  }
}
