import type { Logger } from 'pino'
import type { Projection } from '../projection.ts'
import type { ProjectionName } from '../projection-names.ts'
import { PoisonEvent } from './fold-events.ts'

export type ProjectionFailure = {
  /**
   * The position of the event that could not be folded. Null for any other failure, for example if
   * the database rejected the rows of a batch.
   */
  readonly position: number | null
  readonly message: string
}

/**
 * The progress of one projection in one lane, in the process that owns the lane.
 */
export type Cursor = {
  readonly projection: Projection
  readonly lane: number
  position: number
  failure: ProjectionFailure | null
}

export type ProjectionHealth = {
  readonly name: ProjectionName
  /** The number of the projection's lanes that this process owns. */
  readonly lanes: number
  /** The lowest position of the lanes that this process owns, or 0. */
  readonly position: number
  /** `standby`: this process owns none of the projection's lanes. */
  readonly state: 'live' | 'catching-up' | 'stopped' | 'standby'
  /** The failure of a stopped lane, or null. */
  readonly failure: ProjectionFailure | null
}

/**
 * Returns the health of a projection in this process. `isBehind` reports whether a cursor still has
 * to read older events from the store.
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
 * Stops a cursor until the read model is rebuilt, or until this or another process acquires the
 * lane again.
 */
export function stopCursor(cursor: Cursor, error: unknown, log: Logger): void {
  cursor.failure = failureOf(cursor.projection, error, log, cursor.lane)
}

/** Converts an error to a failure, and logs an alarm. */
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
