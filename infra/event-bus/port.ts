import type { PoolClient } from 'pg'
import type { Recorded } from '#domain/shared/event.ts'

/**
 * `events` is all there is in `lanes` after the position `after` up to `position`, in order.
 * Whoever stands before `after` has to read the event store for what is between.
 */
export type LaneBatch = {
  readonly lanes: readonly number[]
  readonly events: readonly Recorded[]
  readonly after: number
  readonly position: number
}

export type LaneWorker = {
  /** These lanes too are this process’s now. Their batches come after it resolves. */
  readonly onGained: (lanes: readonly number[]) => Promise<void>
  /** These are no longer. What is under way may be finished; its commit is fenced. */
  readonly onLost: (lanes: readonly number[]) => void
  /** The next batch of the same lane waits for the promise. May repeat; never skips silently. */
  readonly onBatch: (batch: LaneBatch) => Promise<void>
}

export type LaneWork = {
  /** False: another process may have taken one of the lanes over; the caller rolls back. */
  readonly isStillMine: (client: PoolClient, lanes: readonly number[]) => Promise<boolean>
  readonly stop: () => Promise<void>
}

/**
 * How committed events get from the event store to those who work them off. Never a source of
 * truth: what it does not bring is read from the store.
 */
export interface EventBus {
  /**
   * Divides the lanes among all processes that work under the same name, each lane to one at a
   * time, and brings the events. Goes on by itself after troubles.
   */
  work(name: string, worker: LaneWorker): LaneWork
  /**
   * Calls `onNews` when events were committed by whichever process, with the position up to which
   * there may be some; for those who watch. May repeat or be late, never stays away for long.
   */
  watch(onNews: (position: number) => void): { readonly stop: () => Promise<void> }
  /** True while it can't bring what it should, and the event store is read instead. */
  isDegraded(): boolean
  /** What somebody has to mend before it can; null: nothing, or it comes back by itself. */
  fault(): string | null
  close(): Promise<void>
}
