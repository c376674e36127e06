import type { Logger } from 'pino'
import type { ProjectionName } from '../names.ts'
import type { Projection } from '../projection.ts'
import { PoisonEvent } from './fold.ts'

export type Fault = {
  /** The event it stopped at; null when the database refused what a whole batch folded to. */
  readonly position: number | null
  readonly message: string
}

/** One projection in one lane, as the process sees it whose lane it is. */
export type Cursor = {
  readonly projection: Projection
  readonly lane: number
  /** Its checkpoint, as last read or written here. */
  position: number
  fault: Fault | null
}

export type ProjectionHealth = {
  readonly name: ProjectionName
  /** Lanes of this process; the others are other processes'. */
  readonly lanes: number
  /** Of the lane that is furthest behind; 0 without lanes. */
  readonly position: number
  /** `standby`: without lanes. */
  readonly state: 'live' | 'catching-up' | 'stopped' | 'standby'
  /** Of one of its lanes. */
  readonly fault: Fault | null
}

/** `isBehind` says whether a lane of it still reads the store by itself. */
export function healthOf(
  { name }: Projection,
  cursors: readonly Cursor[],
  isBehind: (cursor: Cursor) => boolean,
): ProjectionHealth {
  const fault = cursors.find((cursor) => cursor.fault !== null)?.fault ?? null
  const position = cursors.length === 0 ? 0 : Math.min(...cursors.map((cursor) => cursor.position))
  const state = cursors.some(isBehind) ? 'catching-up' : cursors.length === 0 ? 'standby' : 'live'
  return {
    name,
    lanes: cursors.length,
    position,
    state: fault === null ? state : 'stopped',
    fault,
  }
}

/** Stops one lane of a projection (until a restart or a rebuild). */
export function stopCursor(cursor: Cursor, error: unknown, log: Logger): void {
  cursor.fault = faultOf(cursor.projection, error, log, cursor.lane)
}

/** What stopped it; raises the alarm. */
export function faultOf(
  { name }: Projection,
  error: unknown,
  log: Logger,
  lane: number | null = null,
): Fault {
  const position = error instanceof PoisonEvent ? error.position : null
  log.error(
    { alarm: 'projection-stopped', projection: name, lane, position, err: error },
    `projection ${name} stopped: its read model no longer moves in every lane`,
  )
  return { position, message: error instanceof Error ? error.message : String(error) }
}
