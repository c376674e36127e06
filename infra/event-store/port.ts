import type { Fact, FactMeta, Recorded } from '#domain/shared/event.ts'

/**
 * An event to append. Its `id` (a UUID) identifies the event when an append is retried after a lost
 * reply.
 */
export type NewEvent = Fact & { readonly id: string; readonly meta: FactMeta }

/**
 * The expected revision of the stream's last event: `none` requires a new stream, `any` accepts
 * every revision.
 */
export type ExpectedRevision = 'none' | 'any' | number

export type StreamAppend = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly NewEvent[]
  /**
   * Requires that the stream is still new when this part is written. This setting matters for
   * stores that write one stream after another, because another process may write to this stream
   * after the append was decided. In that case, the part is not written and an alarm is raised.
   */
  readonly mustBeNew?: boolean
}

export type Appended = {
  /** The global position of the last appended event. */
  readonly position: number
  /**
   * The positions of the events and the stream's new revision, for each `StreamAppend` in order.
   * EventStoreDB reports only the position of a stream's last event. For the stream's other events,
   * the position may therefore be higher than their actual position.
   */
  readonly streams: readonly {
    readonly stream: string
    readonly revision: number
    readonly positions: readonly number[]
  }[]
}

/**
 * Thrown when another process has written to a stream before this append. Nothing of the append was
 * written, so the caller reloads the state and decides again.
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
 * Thrown when the store could not be reached before the deadline. It is unknown whether the append
 * was written.
 */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailable'
  }
}

/**
 * Receives a batch. All matching events up to `position` have been delivered with this batch.
 * `position` also advances past events that do not match, so a batch of a filtered subscription may
 * be empty.
 */
export type OnBatch = (events: readonly Recorded[], position: number) => Promise<void> | void

export type SubscribeOptions = {
  readonly maxBatch?: number
  /**
   * Limits the subscription to streams whose names begin with one of these prefixes. By default all
   * events are delivered.
   */
  readonly streamPrefixes?: readonly string[]
}

export type Subscription = { readonly stop: () => Promise<void> }

/**
 * The store of all events. An event becomes a fact when its `append` resolves.
 *
 * `append` writes to all of its streams or to none. A retry with the same ids at the same revision
 * succeeds without writing again, at any later time. After a lost connection the store itself
 * retries with the same ids until the deadline, then throws `StoreUnavailable`. A wrong revision
 * throws `RevisionConflict`.
 *
 * EventStoreDB writes the streams of an append one after another. The first part is the decision.
 * The other parts follow within moments, exactly once, after any events that were written to their
 * streams in between. So the first part must be the one that other writes could make invalid.
 *
 * Positions increase in commit order and are safe integers. They are opaque: only the Postgres and
 * memory adapters number without gaps, and only positions that the store has returned are valid.
 */
export interface EventStore {
  append(streams: readonly StreamAppend[]): Promise<Appended>
  /**
   * Returns the events of one stream in order, from `fromRevision` (default 0) on; an empty list
   * for a new stream.
   */
  readStream(stream: string, fromRevision?: number, limit?: number): Promise<Recorded[]>
  /**
   * Returns the events of all streams after `position`, in commit order. `lanes` (see
   * `infra/event-bus`) is a hint that allows the store to leave out events of other lanes
   * (partitions). An empty page always means that there are no more events.
   */
  readAll(after: number, limit: number, lanes?: readonly number[]): Promise<Recorded[]>
  /** Returns the global position of the last event, or 0 if there are no events. */
  headPosition(): Promise<number>
  /**
   * Appends a record that no read and no subscription returns. Throws `StoreUnavailable` if the
   * store does not confirm the record within 1.5 s. A store in Postgres does not have this method,
   * because the disk of Postgres is probed separately.
   */
  readonly probeAppend?: () => Promise<void>
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
