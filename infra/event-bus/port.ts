import type { PoolClient } from 'pg'
import type { Recorded } from '#domain/shared/event.ts'

/**
 * All events of `lanes` (partitions of the streams) after the position `after` up to and including
 * `position`, in ascending order. A consumer whose position is before `after` must read the events
 * in between from the event store.
 */
export type LaneBatch = {
  readonly lanes: readonly number[]
  readonly events: readonly Recorded[]
  readonly after: number
  readonly position: number
}

export type LaneWorker = {
  /**
   * Called when this process has acquired these lanes (partitions). Batches of the lanes start
   * after the promise resolves.
   */
  readonly onGained: (lanes: readonly number[]) => Promise<void>
  /**
   * Called when this process has lost these lanes (partitions). Work in progress may continue, but
   * its commit is rejected.
   */
  readonly onLost: (lanes: readonly number[]) => void
  /**
   * Processes a batch. The next batch of the same lanes (partitions) waits until the promise
   * resolves. A batch may be repeated. If events are skipped, `after` is higher than the `position`
   * of the previous batch.
   */
  readonly onBatch: (batch: LaneBatch) => Promise<void>
}

export type LaneWork = {
  /**
   * Returns false when another process may have acquired one of the lanes (partitions). The caller
   * then rolls back its transaction.
   */
  readonly isStillMine: (client: PoolClient, lanes: readonly number[]) => Promise<boolean>
  readonly stop: () => Promise<void>
}

/**
 * Delivers committed events from the event store to consumers. The event store remains the source
 * of truth. Events that the bus does not deliver are read from the store.
 */
export interface EventBus {
  /**
   * Divides the lanes (partitions) among all processes that work under this name, delivers their
   * events, and recovers from failures. Only one process at a time works on a lane.
   */
  work(name: string, worker: LaneWorker): LaneWork
  /**
   * Calls `onCommitted` with the highest known position after any process has committed events.
   * Calls may be repeated or late, but they do not stop while the watch is open.
   */
  watch(onCommitted: (position: number) => void): { readonly stop: () => Promise<void> }
  /** Returns true while events are read from the store because the bus can't deliver them. */
  isDegraded(): boolean
  /**
   * Returns the error that an operator must fix before the bus can deliver events. Returns null
   * when there is no error, or when the bus can recover by itself.
   */
  operatorError(): string | null
  close(): Promise<void>
}
