import { setTimeout as delay } from 'node:timers/promises'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { laneOf } from '#infra/event-bus/lane-of-stream.ts'
import type { LaneBatch } from '#infra/event-bus/port.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { definitionOf, readCheckpoints } from './checkpoints.ts'
import {
  CheckpointMoved,
  type CommitDeps,
  commitFolds,
  type Folded,
  LanesLost,
} from './commit-folded-batches.ts'
import { type EventFilter, fold, isOutage } from './fold-events.ts'
import { type Cursor, stopCursor } from './lane-cursors-and-projection-health.ts'

const RETRY_MIN_MS = 50
const RETRY_MAX_MS = 5_000

export type FoldAndCommitDeps = CommitDeps & {
  readonly core: Core
  readonly context: FoldContext
  readonly stopping: AbortSignal
  /**
   * Called after each commit, and whenever cursors were added, removed, restarted or moved by
   * another process.
   */
  readonly onMoved: (cursors: readonly Cursor[]) => void
}

/**
 * Events of several lanes that are folded together: all events between the start and end positions
 * in `spans`.
 */
export type Segment = {
  readonly spans: ReadonlyMap<number, { readonly after: number; readonly position: number }>
  readonly events: readonly Recorded[]
}

/**
 * Joins batches of several lanes, to write them in one transaction. Events of one lane stay in
 * order.
 */
export const segmentOf = (batches: readonly LaneBatch[]): Segment => ({
  spans: new Map(
    batches.flatMap(({ lanes, after, position }) =>
      lanes.map((lane) => [lane, { after, position }] as const),
    ),
  ),
  events: batches.length === 1 ? (batches[0]?.events ?? []) : batches.flatMap((b) => b.events),
})

/**
 * Folds a segment and moves the cursors of its lanes in one transaction. Retries after a lost
 * connection. Returns the lanes that another process may own by now. For these lanes, nothing was
 * written. If a cursor's events cannot be folded or written, only this cursor stops. If another
 * process has moved a checkpoint, the cursor continues from there.
 */
export async function foldAndCommit(
  deps: FoldAndCommitDeps,
  cursors: readonly Cursor[],
  segment: Segment,
): Promise<ReadonlySet<number>> {
  const lost = new Set<number>()
  let waitMs = RETRY_MIN_MS
  while (!deps.stopping.aborted) {
    const ready = cursors.filter((cursor) => !lost.has(cursor.lane) && canTake(cursor, segment))
    if (ready.length === 0) break
    try {
      await commitCursors(deps, ready, segment)
      waitMs = RETRY_MIN_MS
    } catch (error) {
      if (error instanceof LanesLost) for (const lane of error.lanes) lost.add(lane)
      else if (error instanceof CheckpointMoved) await reread(deps, ready).catch(() => {})
      else deps.core.log.warn({ err: error }, 'the read models wait for the database')
      await delay(waitMs * (1 + Math.random()), undefined, { signal: deps.stopping }).catch(
        () => {},
      )
      waitMs = Math.min(RETRY_MAX_MS, waitMs * 2)
    }
  }
  return lost
}

function canTake({ failure, lane, position }: Cursor, { spans }: Segment): boolean {
  const span = spans.get(lane)
  if (failure !== null || span === undefined) return false
  return position >= span.after && position < span.position
}

async function commitCursors(
  deps: FoldAndCommitDeps,
  cursors: readonly Cursor[],
  segment: Segment,
): Promise<void> {
  const folds: Folded[] = []
  for (const [projection, own] of Map.groupBy(cursors, (cursor) => cursor.projection)) {
    folds.push(...(await foldCursors(deps, projection, own, segment)))
  }
  await commitOrSplit(deps, folds, segment)
}

/**
 * Commits all changes in one transaction. If the database rejects the transaction, the changes are
 * committed separately by projection and then by lane. This finds the lane whose rows are rejected.
 */
async function commitOrSplit(
  deps: FoldAndCommitDeps,
  folds: readonly Folded[],
  segment: Segment,
): Promise<void> {
  const [first] = folds
  if (first === undefined) return
  try {
    await commitFolds(deps, folds)
    for (const { moves } of folds) for (const { cursor, to } of moves) cursor.position = to
    deps.onMoved(folds.flatMap(({ moves }) => moves.map(({ cursor }) => cursor)))
  } catch (error) {
    if (concernsAllFolds(error)) throw error
    const [move] = first.moves
    if (folds.length > 1) {
      for (const folded of folds) await commitOrSplit(deps, [folded], segment)
    } else if (first.moves.length > 1) {
      for (const { cursor } of first.moves) {
        const own = await foldCursors(deps, first.projection, [cursor], segment)
        await commitOrSplit(deps, own, segment)
      }
    } else if (move !== undefined) stopCursor(move.cursor, error, deps.core.log)
  }
}

const concernsAllFolds = (error: unknown): boolean =>
  error instanceof CheckpointMoved || error instanceof LanesLost || isOutage(error)

/**
 * Folds a segment of events for several cursors. A cursor is the progress of one projection in one
 * lane. A cursor whose events cannot be folded is stopped and omitted from the result.
 */
async function foldCursors(
  deps: FoldAndCommitDeps,
  projection: Projection,
  cursors: readonly Cursor[],
  segment: Segment,
): Promise<Folded[]> {
  const { context, core } = deps
  try {
    const changes = await fold(projection, segment.events, filterOf(cursors, segment), context)
    const moves = cursors.map((cursor) => ({
      projection,
      cursor,
      lane: cursor.lane,
      from: cursor.position,
      to: segment.spans.get(cursor.lane)?.position ?? 0,
    }))
    return [{ projection, moves, changes }]
  } catch (error) {
    if (isOutage(error)) throw error
    const [cursor] = cursors
    if (cursors.length === 1 && cursor !== undefined) {
      stopCursor(cursor, error, core.log)
      return []
    }
    const folds: Folded[] = []
    for (const one of cursors) folds.push(...(await foldCursors(deps, projection, [one], segment)))
    return folds.length === 0 ? [] : [await foldTogether(deps, folds, segment)]
  }
}

/**
 * Folds a segment once for all cursors in `folds`, which does not contain the cursors that were
 * stopped.
 */
async function foldTogether(
  { context }: FoldAndCommitDeps,
  folds: readonly Folded[],
  segment: Segment,
): Promise<Folded> {
  const moves = folds.flatMap((folded) => folded.moves)
  const { projection } = folds[0] as Folded
  const filter = filterOf(
    moves.map(({ cursor }) => cursor),
    segment,
  )
  return { projection, moves, changes: await fold(projection, segment.events, filter, context) }
}

/**
 * Returns a filter for the events that the cursors still need. Returns null if the cursors need all
 * events, which is the usual case.
 */
function filterOf(cursors: readonly Cursor[], segment: Segment): EventFilter | null {
  const isUsual =
    cursors.length === segment.spans.size &&
    cursors.every(({ lane, position }) => segment.spans.get(lane)?.after === position)
  if (isUsual) return null
  const positions = new Map(cursors.map(({ lane, position }) => [lane, position]))
  return ({ stream, position }) =>
    position > (positions.get(laneOf(stream)) ?? Number.POSITIVE_INFINITY)
}

/**
 * Continues cursors from their current checkpoints, which another process has moved. Stops a cursor
 * if another release has rebuilt the read model.
 */
async function reread(deps: FoldAndCommitDeps, cursors: readonly Cursor[]): Promise<void> {
  const checkpoints = await readCheckpoints(deps.core.pg)
  for (const cursor of cursors) {
    const checkpoint = checkpoints.get(cursor.projection.name)
    if (checkpoint?.definition !== definitionOf(cursor.projection)) {
      const other = new Error('another release has rebuilt its read model')
      stopCursor(cursor, other, deps.core.log)
    } else cursor.position = checkpoint.positions[cursor.lane] ?? cursor.position
  }
  deps.onMoved(cursors)
}
