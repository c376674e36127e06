import type { PoolClient } from 'pg'
import type { Recorded } from '#domain/shared/event.ts'

/**
 * All events of `lanes` after the position `after` up to `position`, in order. A reader whose
 * position is before `after` has to read the events in between from the event store.
 */
export type LaneBatch = {
  readonly lanes: readonly number[]
  readonly events: readonly Recorded[]
  readonly after: number
  readonly position: number
}

export type LaneWorker = {
  /** This process has acquired these lanes too. Their batches start after the promise resolves. */
  readonly onGained: (lanes: readonly number[]) => Promise<void>
  /** This process has lost these lanes. Work in progress may finish; its commit is fenced. */
  readonly onLost: (lanes: readonly number[]) => void
  /**
   * The next batch of the same lane waits for the promise. Batches may repeat and never skip
   * silently.
   */
  readonly onBatch: (batch: LaneBatch) => Promise<void>
}

export type LaneWork = {
  /**
   * False when another process may have taken over one of the lanes; the caller then rolls back.
   */
  readonly isStillMine: (client: PoolClient, lanes: readonly number[]) => Promise<boolean>
  readonly stop: () => Promise<void>
}

/**
 * Delivers committed events from the event store to their consumers. It is never the source of
 * truth: whatever it does not deliver is read from the store.
 */
export interface EventBus {
  /**
   * Divides the lanes among all processes that work under the same name, each lane to one process
   * at a time, and delivers their events. Recovers from failures by itself.
   */
  work(name: string, worker: LaneWorker): LaneWork
  /**
   * Calls `onCommitted` when any process has committed events, with the highest position that may
   * exist. Calls may repeat or be late, but never stop for long.
   */
  watch(onCommitted: (position: number) => void): { readonly stop: () => Promise<void> }
  /** True while events are read from the store, because the bus can't deliver them. */
  isDegraded(): boolean
  /**
   * The error that an operator must fix before the bus can deliver; null without one, also while
   * the bus recovers by itself.
   */
  operatorError(): string | null
  close(): Promise<void>
}
