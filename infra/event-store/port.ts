import type { Fact, FactMeta, Recorded } from '#domain/shared/event.ts'

/**
 * An event to append. Its `id` (UUID) identifies it when the append is retried after a lost reply.
 */
export type NewEvent = Fact & { readonly id: string; readonly meta: FactMeta }

/** `none` requires a new stream; a number is the revision of its last event. */
export type ExpectedRevision = 'none' | 'any' | number

export type StreamAppend = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly NewEvent[]
  /**
   * Matters where streams can't be written at once: this part must not follow events that another
   * process wrote into the stream after the append was decided. In that case an alarm is raised and
   * the part is not written.
   */
  readonly mustBeNew?: boolean
}

export type Appended = {
  /** The global position of the last event appended. */
  readonly position: number
  /**
   * Contains, for each `StreamAppend` in order, the positions of its events and the stream's new
   * revision. A position may be later than the event's own, up to the position of the last event of
   * its stream in this append, because EventStoreDB reports only that one.
   */
  readonly streams: readonly {
    readonly stream: string
    readonly revision: number
    readonly positions: readonly number[]
  }[]
}

/** Another process wrote first, and nothing of this append was written. Reload and decide again. */
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
 * The store could not be reached within its deadline. It is unknown whether the append was written.
 */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailable'
  }
}

/**
 * `position` means that no further events up to it will be delivered. It moves past events that do
 * not match, so a batch of a filtered subscription may be empty.
 */
export type OnBatch = (events: readonly Recorded[], position: number) => Promise<void> | void

export type SubscribeOptions = {
  readonly maxBatch?: number
  /**
   * Limits the subscription to streams whose names begin with one of these; by default all events
   * are delivered.
   */
  readonly streamPrefixes?: readonly string[]
}

export type Subscription = { readonly stop: () => Promise<void> }

/**
 * The one commit point. An event is a fact once `append` has resolved, and not before.
 *
 * `append` writes all of its streams or none. A retry with the same ids at the same revision is
 * answered as done, however late. Lost connections are retried inside, with the same ids, until the
 * deadline; then it throws `StoreUnavailable`. A wrong revision throws `RevisionConflict`.
 *
 * EventStoreDB writes several streams one after the other. The first part is the decision; the
 * others follow within moments, exactly once, behind any events that were written to their streams
 * in between. So a part that other writes could forbid must come first.
 *
 * Positions increase in commit order and are safe integers. They are opaque: only the adapters for
 * Postgres and memory number without gaps, and only positions that the store has returned are
 * valid.
 */
export interface EventStore {
  append(streams: readonly StreamAppend[]): Promise<Appended>
  /**
   * Returns the events of one stream from `fromRevision` (0) on, in order; an empty list for a new
   * stream.
   */
  readStream(stream: string, fromRevision?: number, limit?: number): Promise<Recorded[]>
  /**
   * Returns the events of all streams after `position`, in commit order. `lanes` (see
   * `infra/event-bus`) is a hint: a store may leave out events of other lanes, unless the page
   * would be empty, because an empty page means that there are no more events.
   */
  readAll(after: number, limit: number, lanes?: readonly number[]): Promise<Recorded[]>
  /** Returns the global position of the last event; 0 without events. */
  headPosition(): Promise<number>
  /**
   * Appends a record that is not an event: no read and no subscription ever returns it. Throws
   * `StoreUnavailable` unless the store confirms it within 1.5 s. It is absent where the events are
   * in Postgres, which has a probe of its disk.
   */
  readonly probeAppend?: () => Promise<void>
  /**
   * Delivers every event after `after` once and in order, batch after batch. The next batch waits
   * for the promise of the previous one. If `onBatch` rejects, the subscription ends through
   * `onError`.
   */
  subscribeAll(
    after: number,
    onBatch: OnBatch,
    onError: (error: unknown) => void,
    options?: SubscribeOptions,
  ): Subscription
  close(): Promise<void>
}
