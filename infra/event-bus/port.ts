import type { PoolClient } from 'pg'
import type { Recorded } from '#domain/shared/event.ts'

/**
 * A batch for some lanes. The batch contains all events of `lanes` after the position `after` up to
 * and including `position`, in order. A consumer with a position before `after` must read the
 * missing events from the event store.
 */
export type LaneBatch = {
  readonly lanes: readonly number[]
  readonly events: readonly Recorded[]
  readonly after: number
  readonly position: number
}

export type LaneWorker = {
  /**
   * Called when this process acquired lanes. Batches start after the promise resolves.
   */
  readonly onGained: (lanes: readonly number[]) => Promise<void>
  /**
   * Called when this process has lost lanes. Work in progress for these lanes can no longer be
   * committed.
   */
  readonly onLost: (lanes: readonly number[]) => void
  /**
   * Processes a batch, which may be delivered repeatedly. The next batch of a lane waits until the
   * promise resolves. If events are skipped, `after` is higher than the `position` of the previous
   * batch.
   */
  readonly onBatch: (batch: LaneBatch) => Promise<void>
}

export type LaneWork = {
  /**
   * Reports whether this process still holds all `lanes`. If the result is false, the caller must
   * roll back its transaction, because another process may have acquired one of the lanes.
   */
  readonly isStillMine: (client: PoolClient, lanes: readonly number[]) => Promise<boolean>
  readonly stop: () => Promise<void>
}

/** Delivers committed events from the event store, which remains the source of truth. */
export interface EventBus {
  /**
   * Divides the lanes among all processes that call `work` with this name, and recovers from
   * failures. Only one process at a time works on a lane.
   */
  work(name: string, worker: LaneWorker): LaneWork
  /**
   * Calls `onCommitted` with the highest position after any process has committed events. Calls may
   * be repeated or late.
   */
  watch(onCommitted: (position: number) => void): { readonly stop: () => Promise<void> }
  /** Reports whether events are read from the event store because the bus can't deliver them. */
  isDegraded(): boolean
  /**
   * Returns the error that an operator must fix before the bus can deliver events, or null if there
   * is none.
   */
  operatorError(): string | null
  close(): Promise<void>
}
