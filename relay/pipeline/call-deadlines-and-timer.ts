import { type ListEntry, UnorderedList } from '../unordered-list.ts'

/** The time limits of calls, in milliseconds. Tests replace some of them. */
export type Deadlines = {
  readonly connectMs: number
  /**
   * The maximum time, in milliseconds, from the start of an attempt to the first event of its
   * stream. For a streamed upload, the time starts when its last chunk is sent.
   */
  readonly firstEventMs: number
  /**
   * The maximum time from the start of an attempt to the first byte of a plain answer (not a
   * stream). Providers send a plain answer only when it is complete, which takes minutes with
   * reasoning models.
   */
  readonly plainAnswerStartMs: number
  /** The maximum time between two chunks of an answer. */
  readonly idleMs: number
  readonly totalMs: number
  /**
   * The maximum time until the call's hold (reserved quota) is durable. An admission may need
   * several reads and appends, one after another.
   */
  readonly admitMs: number
  /**
   * The maximum time until the end of the call is durable. This must exceed the 10 s after which
   * the event store gives up, because a call could otherwise be settled after its caller received
   * an error.
   */
  readonly settleMs: number
  /**
   * The maximum time for which a plain answer, a background response or a stream of images is read
   * for its usage after the caller has disconnected.
   */
  readonly readOnPlainMs: number
  /**
   * The maximum time for which any other stream is read for its usage after the caller has
   * disconnected. `mustReadUsage` decides which of these streams are read.
   */
  readonly readOnStreamMs: number
  /**
   * The maximum time for which a realtime session waits for its last reports of usage after the
   * caller has disconnected.
   */
  readonly lastUsageMs: number
  /** The time between two checks of whether the caller of a running call still has access. */
  readonly accessCheckMs: number
  /** A caller whose connection accepts no byte for this time is treated as disconnected. */
  readonly writeStallMs: number
  /** A download ends if its caller reads nothing for this time. */
  readonly downloadStallMs: number
  /**
   * The maximum time between two bytes of a websocket message. While the relay shuts down, this is
   * also the maximum time between two bytes of an HTTP request body.
   */
  readonly uploadStallMs: number
  /** The maximum time to cancel a background response, including the time to obtain credentials. */
  readonly cancelMs: number
  readonly leaseMs: number
  readonly renewMs: number
  readonly progressMs: number
  readonly progressBytes: number
}

export const DEFAULT_DEADLINES: Deadlines = {
  connectMs: 5_000,
  firstEventMs: 60_000,
  plainAnswerStartMs: 300_000,
  idleMs: 120_000,
  totalMs: 30 * 60_000,
  admitMs: 15_000,
  settleMs: 15_000,
  readOnPlainMs: 300_000,
  readOnStreamMs: 10_000,
  lastUsageMs: 5_000,
  accessCheckMs: 1_000,
  writeStallMs: 60_000,
  downloadStallMs: 30_000,
  uploadStallMs: 10_000,
  cancelMs: 5_000,
  leaseMs: 60_000,
  renewMs: 20_000,
  progressMs: 4_000,
  progressBytes: 64 * 1024,
}

/**
 * A listener of the relay's timer. `onTick` is called on every tick until it returns false. `now`
 * is the current value of `performance.now()`, so a change of the system clock ends no call.
 */
export type TimerListener = { readonly onTick: (now: number) => boolean }

const TICK_MS = 100

/**
 * One timer for the deadlines of all calls. It runs while at least one call is running. On every
 * tick, each listener compares the time with its deadlines. This costs less than starting and
 * clearing two timers for every call.
 */
export class DeadlineTimer {
  private readonly listeners = new UnorderedList<TimerListener>()
  private timer: NodeJS.Timeout | null = null
  private onFirstCall = (): void => {}

  /** Sets the function that is called when a call begins while no other call is running. */
  notifyOfFirstCall(onFirstCall: () => void): void {
    this.onFirstCall = onFirstCall
  }

  /** Adds a listener. Returns the list entry that `remove` needs. */
  add(listener: TimerListener): ListEntry<TimerListener> {
    if (this.timer === null) {
      this.timer = setInterval(() => this.tick(), TICK_MS)
      this.onFirstCall()
    }
    return this.listeners.add(listener)
  }

  remove(entry: ListEntry<TimerListener>): void {
    this.listeners.remove(entry)
  }

  close(): void {
    if (this.timer !== null) clearInterval(this.timer)
    this.timer = null
    this.listeners.clear()
  }

  private tick(): void {
    if (this.listeners.size === 0) this.close()
    const now = performance.now()
    for (const entry of this.listeners) {
      if (!entry.member.onTick(now)) this.listeners.remove(entry)
    }
  }
}
