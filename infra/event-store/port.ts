import type { Fact, FactMeta, Recorded } from '#domain/shared/event.ts'

/** An event to append. Its `id` (UUID) makes a retry after a lost reply recognisable. */
export type NewEvent = Fact & { readonly id: string; readonly meta: FactMeta }

/** `none`: the stream must be new; a number: the revision of its last event. */
export type ExpectedRevision = 'none' | 'any' | number

export type StreamAppend = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly NewEvent[]
  /**
   * Where streams can't be written at once: this part must not follow what somebody wrote into a
   * stream that was new when the act was decided. An alarm is raised then, and it stays unwritten.
   */
  readonly mustBeNew?: boolean
}

export type Appended = {
  /** Global position of the last event appended. */
  readonly position: number
  /**
   * Per `StreamAppend`, in order: the positions of its events and the stream's new revision. A
   * position may be a later one than the event's own, up to that of the last event of its stream
   * here: EventStoreDB tells that one alone.
   */
  readonly streams: readonly {
    readonly stream: string
    readonly revision: number
    readonly positions: readonly number[]
  }[]
}

/** Somebody else wrote first: nothing of this append was written. Reload and decide again. */
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

/** The store could not be reached within its deadline; whether it was written is unknown. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailable'
  }
}

/**
 * `position`: there is nothing more to come up to it. It goes on past events that were not asked
 * for, so that a batch of a filtered subscription may be empty.
 */
export type OnBatch = (events: readonly Recorded[], position: number) => Promise<void> | void

export type SubscribeOptions = {
  readonly maxBatch?: number
  /** Only events of streams whose names begin with one of these; left out: all events. */
  readonly streamPrefixes?: readonly string[]
}

export type Subscription = { readonly stop: () => Promise<void> }

/**
 * The one commit point. An event is a fact once `append` has answered, and not before.
 *
 * `append` writes all of its streams or none. A retry with the same ids at the same revision is
 * answered as done, however late. Lost connections are retried inside, with the same ids, until
 * the deadline; then it throws `StoreUnavailable`. A wrong revision throws `RevisionConflict`.
 *
 * EventStoreDB writes several streams one after the other: the first is the decision, the others
 * follow it within moments, once, whatever happens; and where somebody else wrote to one of them in
 * between, behind that. So a part that others' writes could forbid has to come first.
 *
 * Positions increase in commit order and are safe integers. They are opaque: only the adapters in
 * Postgres and memory number without gaps, and a position that was not given out names no place.
 */
export interface EventStore {
  append(streams: readonly StreamAppend[]): Promise<Appended>
  /** Events of one stream from `fromRevision` (0) on, in order; an empty list when it is new. */
  readStream(stream: string, fromRevision?: number, limit?: number): Promise<Recorded[]>
  /**
   * Events of all streams after `position`, in commit order. `lanes` (see `infra/event-bus`) is a
   * hint: a store may leave out events of other lanes, but for a page of none, which says that
   * there is nothing more.
   */
  readAll(after: number, limit: number, lanes?: readonly number[]): Promise<Recorded[]>
  /** Global position of the last event; 0 when there is none. */
  headPosition(): Promise<number>
  /**
   * Appends something that is no event of the books: no read and no subscription ever returns it.
   * Throws `StoreUnavailable` unless the store confirms it within 1.5 s. It is absent where the
   * events are in Postgres, whose disk has a probe of its own.
   */
  readonly probeAppend?: () => Promise<void>
  /**
   * Every event after `after`, once, in order, batch after batch; the next batch waits for the
   * promise of the one before. `onBatch` rejecting ends the subscription through `onError`.
   */
  subscribeAll(
    after: number,
    onBatch: OnBatch,
    onError: (error: unknown) => void,
    options?: SubscribeOptions,
  ): Subscription
  close(): Promise<void>
}
