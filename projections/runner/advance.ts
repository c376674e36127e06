import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '#infra/core.ts'
import { laneOf } from '#infra/event-bus/lanes.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { definitionOf, readCheckpoints } from './checkpoints.ts'
import { CheckpointMoved, type CommitDeps, commitFolds, type Folded, LanesLost } from './commit.ts'
import { fold, type IsWanted, isOutage } from './fold.ts'
import type { Stretch } from './stretch.ts'
import { stopTrack, type Track } from './track.ts'

const RETRY_MIN_MS = 50
const RETRY_MAX_MS = 5_000

export type AdvanceDeps = Omit<CommitDeps, 'pg'> & {
  readonly core: Core
  readonly context: FoldContext
  readonly stopping: AbortSignal
  /** Told after every commit, and when another process was found to have moved on. */
  readonly onMoved: (tracks: readonly Track[]) => void
}

/**
 * Brings the tracks of the lanes through the stretch, all in one transaction. A track that can't be
 * folded or written stops alone; the others go on. Lost connections are waited out. A track whose
 * checkpoint another process moved takes that position, ahead or behind; one that is behind the
 * stretch is left for its catching up.
 *
 * Answers the lanes that another process may have taken over; there nothing was written.
 */
export async function advance(
  deps: AdvanceDeps,
  tracks: readonly Track[],
  stretch: Stretch,
): Promise<ReadonlySet<number>> {
  const lost = new Set<number>()
  let waitMs = RETRY_MIN_MS
  while (!deps.stopping.aborted) {
    const ready = tracks.filter((track) => !lost.has(track.lane) && canTake(track, stretch))
    if (ready.length === 0) break
    try {
      await commitTracks(deps, ready, stretch)
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

function canTake({ fault, lane, position }: Track, { spans }: Stretch): boolean {
  const span = spans.get(lane)
  if (fault !== null || span === undefined) return false
  return position >= span.after && position < span.position
}

async function commitTracks(
  deps: AdvanceDeps,
  tracks: readonly Track[],
  stretch: Stretch,
): Promise<void> {
  const folds: Folded[] = []
  for (const [projection, own] of Map.groupBy(tracks, (track) => track.projection)) {
    folds.push(...(await foldTracks(deps, projection, own, stretch)))
  }
  await commitOrSplit(deps, folds, stretch)
}

/** Where somebody's rows are refused, one by one shows whose: by projection, then by lane. */
async function commitOrSplit(
  deps: AdvanceDeps,
  folds: readonly Folded[],
  stretch: Stretch,
): Promise<void> {
  const [first] = folds
  if (first === undefined) return
  try {
    await commitFolds({ ...deps, pg: deps.core.pg }, folds)
    for (const { moves } of folds) for (const { track, to } of moves) track.position = to
    deps.onMoved(folds.flatMap(({ moves }) => moves.map(({ track }) => track)))
  } catch (error) {
    if (isForAll(error)) throw error
    const [move] = first.moves
    if (folds.length > 1) {
      for (const folded of folds) await commitOrSplit(deps, [folded], stretch)
    } else if (first.moves.length > 1) {
      for (const { track } of first.moves) {
        const own = await foldTracks(deps, first.projection, [track], stretch)
        await commitOrSplit(deps, own, stretch)
      }
    } else if (move !== undefined) stopTrack(move.track, error, deps.core.log)
  }
}

const isForAll = (error: unknown): boolean =>
  error instanceof CheckpointMoved || error instanceof LanesLost || isOutage(error)

/** The fold of some lanes of one projection; without those that can't be folded. */
async function foldTracks(
  deps: AdvanceDeps,
  projection: Projection,
  tracks: readonly Track[],
  stretch: Stretch,
): Promise<Folded[]> {
  const { context, core } = deps
  try {
    const changes = await fold(projection, stretch.events, wantedBy(tracks, stretch), context)
    const moves = tracks.map((track) => ({
      ...{ projection, track, lane: track.lane },
      ...{ from: track.position, to: stretch.spans.get(track.lane)?.position ?? 0 },
    }))
    return [{ projection, moves, changes }]
  } catch (error) {
    if (isOutage(error)) throw error
    const [track] = tracks
    if (tracks.length === 1 && track !== undefined) {
      stopTrack(track, error, core.log)
      return []
    }
    const folds: Folded[] = []
    for (const one of tracks) folds.push(...(await foldTracks(deps, projection, [one], stretch)))
    return folds.length === 0 ? [] : [await together(deps, folds, stretch)]
  }
}

/** One fold again of lanes that can be folded. */
async function together(
  { context }: AdvanceDeps,
  folds: readonly Folded[],
  stretch: Stretch,
): Promise<Folded> {
  const moves = folds.flatMap((folded) => folded.moves)
  const { projection } = folds[0] as Folded
  const wanted = wantedBy(
    moves.map(({ track }) => track),
    stretch,
  )
  return { projection, moves, changes: await fold(projection, stretch.events, wanted, context) }
}

/** null: every event, as is usual. */
function wantedBy(tracks: readonly Track[], stretch: Stretch): IsWanted | null {
  const isUsual =
    tracks.length === stretch.spans.size &&
    tracks.every(({ lane, position }) => stretch.spans.get(lane)?.after === position)
  if (isUsual) return null
  const positions = new Map(tracks.map(({ lane, position }) => [lane, position]))
  return ({ stream, position }) =>
    position > (positions.get(laneOf(stream)) ?? Number.POSITIVE_INFINITY)
}

async function reread(deps: AdvanceDeps, tracks: readonly Track[]): Promise<void> {
  const checkpoints = await readCheckpoints(deps.core.pg)
  for (const track of tracks) {
    const checkpoint = checkpoints.get(track.projection.name)
    if (checkpoint?.definition !== definitionOf(track.projection)) {
      const other = new Error('another release has made its read model anew')
      stopTrack(track, other, deps.core.log)
    } else track.position = checkpoint.positions[track.lane] ?? track.position
  }
  deps.onMoved(tracks)
}
