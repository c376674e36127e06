import type { Fact, FactMeta, Recorded } from '#domain/shared/event.ts'

/** An event to append. Its `id` (a UUID) identifies the event when an append is retried. */
export type NewEvent = Fact & { readonly id: string; readonly meta: FactMeta }

/**
 * The revision that the stream's last event must have. `none` requires a new stream. `any` accepts
 * every revision.
 */
export type ExpectedRevision = 'none' | 'any' | number

export type StreamAppend = {
  readonly stream: string
  readonly expected: ExpectedRevision
  /**
   * The events to write. If there are none, the append only requires the revision of this stream,
   * which must not be `any`. At least one stream of an append has events.
   */
  readonly events: readonly NewEvent[]
  /**
   * If true, the stream must still be new when its events are written. If the stream is not new,
   * the store does not write these events and raises an alarm. Only stores that write one stream
   * after another need this field.
   */
  readonly mustBeNew?: boolean
}

export type Appended = {
  readonly position: number
  /**
   * The positions of the written events and the new revision of each stream, in the order of the
   * `StreamAppend`s. EventStoreDB reports only the last position, so every event of the append gets
   * this position.
   */
  readonly streams: readonly {
    readonly stream: string
    readonly revision: number
    readonly positions: readonly number[]
  }[]
}

/**
 * Thrown when another process has written to a stream first. Nothing was written, so the caller
 * reloads the state and decides again.
 */
export class RevisionConflict extends Error {
  readonly stream: string
  readonly actual: number
  constructor(stream: string, expected: ExpectedRevision, actual: number) {
    super(`stream ${stream}: expected revision ${expected}, found ${actual}`)
    this.name = 'RevisionConflict'
    this.stream = stream
    this.actual = actual
  }
}

/**
 * Thrown when the store could not be reached before the deadline. The events may nevertheless have
 * been written.
 */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailable'
  }
}

/**
 * Receives all matching events up to `position`. A batch may be empty, because `position` also
 * advances past events that do not match.
 */
export type OnBatch = (events: readonly Recorded[], position: number) => Promise<void> | void

export type SubscribeOptions = {
  readonly maxBatch?: number
  /** Limits the subscription to streams with one of these prefixes. */
  readonly streamPrefixes?: readonly string[]
  /**
   * The time in milliseconds that this subscription waits before it queries the store for announced
   * events. During this time, another subscription of this process, which gets all events, usually
   * reads these events into memory. A subscription that is more than one batch behind does not
   * wait. Stores that do not keep events in memory ignore this delay.
   */
  readonly queryDelayMs?: number
}

/** Tells what a store knows about commits without a query. */
export type CommitWatch = {
  /**
   * Returns the last position that this process knows. Other processes may have committed later
   * events.
   */
  readonly position: () => number
  /**
   * Resolves when the last known position exceeds `position`, after `timeoutMs` milliseconds or on
   * abort.
   */
  readonly waitBeyond: (position: number, timeoutMs: number, signal: AbortSignal) => Promise<void>
}

export type Subscription = { readonly stop: () => Promise<void> }

/**
 * The store of all events. An event is stored permanently once its `append` resolves.
 *
 * `append` writes to all of its streams or to none. A retry with the same ids at the same revision
 * never writes twice. A wrong revision throws `RevisionConflict`. After a lost connection, the
 * store retries until the deadline and then throws `StoreUnavailable`.
 *
 * EventStoreDB writes the streams of an append one after another, and other events may be written
 * in between. If other events could make the append to one stream invalid, the caller must put this
 * stream first.
 *
 * Positions are safe integers that increase in commit order. There can be gaps between positions,
 * except in the Postgres and memory adapters. Callers must only use positions that the store has
 * returned.
 */
export interface EventStore {
  append(streams: readonly StreamAppend[]): Promise<Appended>
  /**
   * Returns the events of one stream from `fromRevision` (default 0) on. Returns an empty list for
   * a new stream.
   */
  readStream(stream: string, fromRevision?: number, limit?: number): Promise<Recorded[]>
  /**
   * Returns the events of all streams after the position `after`, in commit order. In EventStoreDB,
   * a position without an event is slow, because all events before it may have to be read. If
   * `lanes` (partitions) is given, the store may leave out events of other lanes. An empty page
   * means that there are no more events.
   */
  readAll(after: number, limit: number, lanes?: readonly number[]): Promise<Recorded[]>
  /**
   * Returns the event at exactly this position, or null if there is none.
   */
  eventAt(position: number): Promise<Recorded | null>
  /** Returns the position of the last event, or 0 if there are no events. */
  headPosition(): Promise<number>
  /**
   * Appends a record that no read returns, to test whether the store accepts writes. Throws
   * `StoreUnavailable` after 1.5 s. A store in Postgres lacks this method, because the disk of
   * Postgres is probed separately.
   */
  readonly probeAppend?: () => Promise<void>
  /** Missing if the store can't tell without a query whether there are new events. */
  readonly commits?: CommitWatch
  /**
   * Delivers every event after `after` once and in order. Each batch waits for the promise of the
   * previous batch. If `onBatch` rejects, the subscription ends and `onError` is called.
   */
  subscribeAll(
    after: number,
    onBatch: OnBatch,
    onError: (error: unknown) => void,
    options?: SubscribeOptions,
  ): Subscription
  close(): Promise<void>
}
