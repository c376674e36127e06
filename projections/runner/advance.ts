import { setTimeout as delay } from 'node:timers/promises'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core.ts'
import type { Positions } from '../freshness/advance-signal.ts'
import type { ProjectionName } from '../names.ts'
import type { FoldContext } from '../projection.ts'
import { readCheckpoints } from './checkpoints.ts'
import { CheckpointMoved, commitFolds, type Folded } from './commit.ts'
import { fold, isOutage } from './fold.ts'
import { type Lane, stopLane } from './lane.ts'

const RETRY_MIN_MS = 50
const RETRY_MAX_MS = 5_000

export type AdvanceParts = {
  readonly core: Core
  readonly context: FoldContext
  readonly stopping: AbortSignal
  /** Told after every commit, and when another process was found to have moved on. */
  readonly tell: (positions: Positions) => void
  readonly beforeCommit: (names: readonly ProjectionName[]) => void
}

/**
 * Brings the lanes through a batch of consecutive events, all in one transaction. A lane that
 * can't be folded or written stops alone; the others go on. Lost connections are waited out.
 * A lane whose checkpoint another process moved takes that position, ahead or behind.
 */
export async function advance(
  parts: AdvanceParts,
  lanes: readonly Lane[],
  events: readonly Recorded[],
): Promise<void> {
  const to = events.at(-1)?.position ?? 0
  const first = events[0]?.position ?? 0
  let waitMs = RETRY_MIN_MS
  while (!parts.stopping.aborted) {
    const behind = lanes.filter((l) => l.fault === null && l.position < to && canTake(l, first))
    if (behind.length === 0) return
    try {
      await commitLanes(parts, behind, events, to)
      waitMs = RETRY_MIN_MS
    } catch (error) {
      if (error instanceof CheckpointMoved) await reread(parts, behind).catch(() => {})
      else parts.core.log.warn({ err: error }, 'the read models wait for the database')
      await delay(waitMs * (1 + Math.random()), undefined, { signal: parts.stopping }).catch(
        () => {},
      )
      waitMs = Math.min(RETRY_MAX_MS, waitMs * 2)
    }
  }
}

/** A lane that another process took back behind this batch has to catch up by itself. */
function canTake(lane: Lane, first: number): boolean {
  if (lane.position >= first - 1) return true
  lane.isJoined = false
  return false
}

async function commitLanes(
  parts: AdvanceParts,
  lanes: readonly Lane[],
  events: readonly Recorded[],
  to: number,
): Promise<void> {
  const folds = await foldLanes(parts, lanes, events)
  if (folds.length === 0) return
  try {
    await commitFolds(parts.core.pg, folds, to, parts.beforeCommit)
    arrived(parts, lanes, folds, to)
  } catch (error) {
    if (error instanceof CheckpointMoved || isOutage(error)) throw error
    // Somebody's rows were refused: one by one shows whose.
    for (const folded of folds) await commitAlone(parts, lanes, folded, to)
  }
}

async function commitAlone(
  parts: AdvanceParts,
  lanes: readonly Lane[],
  folded: Folded,
  to: number,
): Promise<void> {
  try {
    await commitFolds(parts.core.pg, [folded], to, parts.beforeCommit)
    arrived(parts, lanes, [folded], to)
  } catch (error) {
    if (error instanceof CheckpointMoved || isOutage(error)) throw error
    const lane = lanes.find(({ projection }) => projection === folded.projection)
    if (lane !== undefined) stopLane(lane, error, parts.core.log)
  }
}

async function foldLanes(
  { context, core }: AdvanceParts,
  lanes: readonly Lane[],
  events: readonly Recorded[],
): Promise<Folded[]> {
  const folds: Folded[] = []
  for (const lane of lanes) {
    const { projection, position } = lane
    try {
      const changes = await fold(projection, events, position, context)
      folds.push({ projection, from: position, changes })
    } catch (error) {
      if (isOutage(error)) throw error
      stopLane(lane, error, core.log)
    }
  }
  return folds
}

function arrived(
  { tell }: AdvanceParts,
  lanes: readonly Lane[],
  folds: readonly Folded[],
  to: number,
): void {
  const done = new Set(folds.map(({ projection }) => projection))
  for (const lane of lanes) if (done.has(lane.projection)) lane.position = to
  tell(new Map(folds.map(({ projection }) => [projection.name, to])))
}

async function reread(parts: AdvanceParts, lanes: readonly Lane[]): Promise<void> {
  const checkpoints = await readCheckpoints(parts.core.pg)
  const moved = new Map<ProjectionName, number>()
  for (const lane of lanes) {
    const position = checkpoints.get(lane.projection.name)?.position
    if (position === undefined || position === lane.position) continue
    lane.position = position
    moved.set(lane.projection.name, position)
  }
  parts.tell(moved)
}
