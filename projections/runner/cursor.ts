import type { Logger } from 'pino'
import type { ProjectionName } from '../names.ts'
import type { Projection } from '../projection.ts'
import { PoisonEvent } from './fold.ts'

export type ProjectionFailure = {
  /** The event at which it stopped; null when the database refused the result of a whole batch. */
  readonly position: number | null
  readonly message: string
}

/** One projection in one lane, in the process that owns the lane. */
export type Cursor = {
  readonly projection: Projection
  readonly lane: number
  /** Its checkpoint, as last read or written by this process. */
  position: number
  failure: ProjectionFailure | null
}

export type ProjectionHealth = {
  readonly name: ProjectionName
  /** The number of lanes that this process owns. */
  readonly lanes: number
  /** The position of the lane that is furthest behind; 0 without lanes. */
  readonly position: number
  /** `standby` means that this process owns none of its lanes. */
  readonly state: 'live' | 'catching-up' | 'stopped' | 'standby'
  /** The failure of one of its lanes. */
  readonly failure: ProjectionFailure | null
}

/** `isBehind` says whether a lane still reads the store on its own. */
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

/** Stops one lane of a projection until a restart or a rebuild. */
export function stopCursor(cursor: Cursor, error: unknown, log: Logger): void {
  cursor.failure = failureOf(cursor.projection, error, log, cursor.lane)
}

/** Builds the failure from an error and raises the alarm. */
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
