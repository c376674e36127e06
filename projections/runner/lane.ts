import type { Logger } from 'pino'
import type { ProjectionName } from '../names.ts'
import type { Projection } from '../projection.ts'
import { PoisonEvent } from './fold.ts'

export type Fault = {
  /** The event it stopped at; null when the database refused what a whole batch folded to. */
  readonly position: number | null
  readonly message: string
}

/** One projection as this process sees it. */
export type Lane = {
  readonly projection: Projection
  /** Its checkpoint, as last read or written here. */
  position: number
  /** Takes its events from the shared feed; otherwise it is still catching up by itself. */
  isJoined: boolean
  fault: Fault | null
}

export type LaneHealth = {
  readonly name: ProjectionName
  readonly position: number
  readonly state: 'live' | 'catching-up' | 'stopped'
  readonly fault: Fault | null
}

export const healthOf = ({ projection, position, isJoined, fault }: Lane): LaneHealth => ({
  name: projection.name,
  position,
  state: fault !== null ? 'stopped' : isJoined ? 'live' : 'catching-up',
  fault,
})

/** Stops one projection for good (until a restart or a rebuild) and raises the alarm. */
export function stopLane(lane: Lane, error: unknown, log: Logger): void {
  const message = error instanceof Error ? error.message : String(error)
  const position = error instanceof PoisonEvent ? error.position : null
  lane.fault = { position, message }
  lane.isJoined = false
  log.error(
    { alarm: 'projection-stopped', projection: lane.projection.name, position, err: error },
    `projection ${lane.projection.name} stopped: its read model no longer moves`,
  )
}
