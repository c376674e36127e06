import type { Logger } from 'pino'
import type { Projection } from '../projection.ts'
import type { ProjectionName } from '../projection-names.ts'
import { PoisonEvent } from './fold-events.ts'

export type ProjectionFailure = {
  /**
   * The position of the event that could not be folded. It is null when the database refused the
   * rows of a whole batch.
   */
  readonly position: number | null
  readonly message: string
}

/**
 * The progress of one projection in one lane (partition of the streams), in the process that owns
 * the lane.
 */
export type Cursor = {
  readonly projection: Projection
  readonly lane: number
  /** The checkpoint that this process last read or wrote. */
  position: number
  failure: ProjectionFailure | null
}

export type ProjectionHealth = {
  readonly name: ProjectionName
  /** The number of the projection's lanes (partitions of the streams) that this process owns. */
  readonly lanes: number
  /**
   * The lowest position of the lanes (partitions) that this process owns; 0 when it owns no lanes.
   */
  readonly position: number
  /** `standby` means that this process owns none of the projection's lanes (partitions). */
  readonly state: 'live' | 'catching-up' | 'stopped' | 'standby'
  /** The failure of a stopped lane (partition of the streams); null when no lane is stopped. */
  readonly failure: ProjectionFailure | null
}

/**
 * Summarizes the cursors of one projection. `isBehind` tells whether a cursor still reads older
 * events from the store.
 */
export function healthOf(
  { name }: Projection,
  cursors: readonly Cursor[],
  isBehind: (cursor: Cursor) => boolean,
): ProjectionHealth {
  const failure = cursors.find((cursor) => cursor.failure !== null)?.failure ?? null
  const position = cursors.length === 0 ? 0 : Math.min(...cursors.map((cursor) => cursor.position))
  const state = cursors.some(isBehind) ? 'catching-up' : cursors.length === 0 ? 'standby' : 'live'
  return {
    name,
    lanes: cursors.length,
    position,
    state: failure === null ? state : 'stopped',
    failure,
  }
}

/**
 * Stops one lane (partition of the streams) of a projection. The lane starts again after a restart
 * of the process or a rebuild of the read model.
 */
export function stopCursor(cursor: Cursor, error: unknown, log: Logger): void {
  cursor.failure = failureOf(cursor.projection, error, log, cursor.lane)
}

/** Creates the failure for an error and logs an alarm. */
export function failureOf(
  { name }: Projection,
  error: unknown,
  log: Logger,
  lane: number | null = null,
): ProjectionFailure {
  const position = error instanceof PoisonEvent ? error.position : null
  log.error(
    { alarm: 'projection-stopped', projection: name, lane, position, err: error },
    `projection ${name} stopped: its read model no longer moves in every lane`,
  )
  return { position, message: error instanceof Error ? error.message : String(error) }
}
