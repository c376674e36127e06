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
export type Track = {
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
  tracks: readonly Track[],
  isBehind: (track: Track) => boolean,
): ProjectionHealth {
  const fault = tracks.find((track) => track.fault !== null)?.fault ?? null
  const position = tracks.length === 0 ? 0 : Math.min(...tracks.map((track) => track.position))
  const state = tracks.some(isBehind) ? 'catching-up' : tracks.length === 0 ? 'standby' : 'live'
  return {
    name,
    lanes: tracks.length,
    position,
    state: fault === null ? state : 'stopped',
    fault,
  }
}

/** Stops one lane of a projection (until a restart or a rebuild). */
export function stopTrack(track: Track, error: unknown, log: Logger): void {
  track.fault = faultOf(track.projection, error, log, track.lane)
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
