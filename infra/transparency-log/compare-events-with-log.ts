import type { Pool } from 'pg'
import { parseCheckpointOrNull } from '../audit-program/signed-checkpoint.ts'
import type { KeyRing, SignatureFault } from '../audit-program/trusted-log-keys.ts'
import {
  type CheckpointPlace,
  type DifferingCheckpoints,
  DifferingRanges,
  lostTileRanges,
} from './join-findings-to-ranges.ts'
import { HASH_BYTES, type ReadLeaves, splitHashes } from './leaf-hashes.ts'
import { rootOfHashes, TILE_WIDTH } from './merkle-tree.ts'
import {
  checkpointPages,
  listCheckpoints,
  MissingHash,
  readTile,
  storedTree,
} from './read-checkpoints-and-tiles.ts'

/** A code from the catalogue of findings, with the parameters of its text. */
type Coded<Code extends string, Params> = { readonly code: Code; readonly params: Readonly<Params> }

type LogFault =
  | Coded<'EventDiffersFromSeal' | 'EventRemoved', Record<string, never>>
  | Coded<'EventsRemoved', { count: number }>
  | Coded<'LeavesRemoved' | 'LeafDiffers', { leaf: number }>
  | Coded<'TileMissing', { tile: string; first: number; last: number }>
  | Coded<'TilesMissing', { firstTile: number; lastTile: number; first: number; last: number }>
  | Coded<'TileDiffers', { tile: string; position: number }>
  | Coded<'StoredCheckpointMalformed', { size: number; position: number }>
  | Coded<'TilesDifferFromCheckpoints', DifferingCheckpoints>
  | SignatureFault

/**
 * A contradiction between the stored events and the transparency log. `position` is the position of
 * the event, or of the first event, that the finding is about.
 */
export type LogFinding = LogFault & {
  readonly kind:
    | 'event-changed'
    | 'event-missing'
    | 'tile-missing'
    | 'tile-changed'
    | 'checkpoint-changed'
    | 'checkpoint-signed-by-another-key'
  readonly position: number
}

type ComparisonDeps = {
  readonly pg: Pool
  /**
   * Computes the hashes of the stored events. Null if the caller has compared the events with the
   * leaves.
   */
  readonly readLeaves: ReadLeaves | null
  /** The keys that verify the log's signatures. Null if signatures are not verified. */
  readonly keys: KeyRing | null
  /** True if the positions of the store have no gaps, so that a removed event can be named. */
  readonly arePositionsDense: boolean
  /** The range of leaves to compare. The default is all. */
  readonly part?: LogPart
  readonly onProgress?: (leaves: number) => void
  readonly signal?: AbortSignal | undefined
}

/**
 * A range of leaves: from the first leaf of the tile `firstTile` to the leaf before `untilLeaf`.
 */
export type LogPart = { readonly firstTile: number; readonly untilLeaf: number }

const WHOLE: LogPart = { firstTile: 0, untilLeaf: Number.MAX_SAFE_INTEGER }

type LeafTile = {
  readonly index: string
  readonly hashes: Buffer
  readonly first_position: string
}

/**
 * Compares the stored events with the leaf hashes of the log, the full tiles of level 0 with the
 * hashes in the tiles above, and the signed checkpoints with the tiles. Only the given range of the
 * log is compared. At most about 16,000 events are hashed at a time. A history that was rewritten
 * and signed again with the right key is not detected here. Only a witness, a receipt or the tree
 * of an earlier verification reveals such a history.
 */
export async function* compareEventsWithLog(deps: ComparisonDeps): AsyncGenerator<LogFinding> {
  const { pg, readLeaves, arePositionsDense, part = WHOLE, onProgress, signal } = deps
  const { rows: ends } = await pg.query<{ size: string; last_position: string }>(
    'select size, last_position from transparency_log.log',
  )
  const end = Number(ends[0]?.last_position ?? 0)
  const size = Number(ends[0]?.size ?? 0)
  const untilTile = Math.ceil(Math.min(part.untilLeaf, size) / TILE_WIDTH)
  const allLost: number[] = []
  for (let next = part.firstTile; next < untilTile; next += TILES_PER_READ) {
    signal?.throwIfAborted()
    const { rows: tiles } = await pg.query<LeafTile>(
      `select index, hashes, first_position from transparency_log.tiles
        where level = 0 and index >= $1 and index < $2 order by index`,
      [next, Math.min(next + TILES_PER_READ, untilTile)],
    )
    const indexes = Array.from(
      { length: Math.min(TILES_PER_READ, untilTile - next) },
      (_, i) => next + i,
    )
    const { runs, lost } = completeRuns(tiles, indexes, size)
    const compared = { readLeaves: readLeaves ?? NO_LEAVES, untilLeaf: part.untilLeaf, end }
    // With gaps between the positions, only the first event of each tile has a known position.
    const batches = arePositionsDense ? runs : runs.flat().map((tile) => [tile])
    for (const batch of readLeaves === null ? [] : batches) {
      if (arePositionsDense) yield* compareTiles(compared, batch)
      else yield* compareInOrder(compared, batch)
    }
    allLost.push(...lost)
    yield* compareParents(pg, tiles)
    onProgress?.((next - part.firstTile + indexes.length) * TILE_WIDTH)
  }
  if (readLeaves !== null) {
    for (const range of lostTileRanges(allLost, size)) {
      yield { kind: 'tile-missing', position: range.params.first, ...range }
    }
  }
  yield* compareCheckpoints(deps, part)
}

/**
 * Splits the tiles into runs of consecutive tiles that have all of their hashes. Also returns the
 * indexes of the tiles that lack hashes. Without the split, the hashes after a lost tile would be
 * compared with the events of the lost tile.
 */
function completeRuns(
  tiles: readonly LeafTile[],
  indexes: readonly number[],
  size: number,
): { readonly runs: readonly LeafTile[][]; readonly lost: readonly number[] } {
  const byIndex = new Map(tiles.map((tile) => [Number(tile.index), tile]))
  const runs: LeafTile[][] = [[]]
  const lost: number[] = []
  for (const index of indexes) {
    const tile = byIndex.get(index)
    const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH)
    if (tile !== undefined && tile.hashes.length >= width * HASH_BYTES) runs.at(-1)?.push(tile)
    else {
      lost.push(index)
      runs.push([])
    }
  }
  return { runs: runs.filter((run) => run.length > 0), lost }
}

type ComparedLeaves = {
  readonly readLeaves: ReadLeaves
  readonly untilLeaf: number
  /** The position of the last sealed event. */
  readonly end: number
}

const NO_LEAVES: ReadLeaves = async () => ({ positions: [], hashes: [] })

/** Returns the sealed leaf hashes of consecutive tiles, up to the leaf before `untilLeaf`. */
const sealedLeaves = (tiles: readonly LeafTile[], untilLeaf: number): Buffer[] => {
  const first = Number(tiles[0]?.index) * TILE_WIDTH
  return tiles.flatMap(({ hashes }) => splitHashes(hashes)).slice(0, untilLeaf - first)
}

const TILES_PER_READ = 64
const CHANGED = { kind: 'event-changed', code: 'EventDiffersFromSeal', params: {} } as const
const REMOVED = { kind: 'event-missing', code: 'EventRemoved', params: {} } as const

/**
 * Compares one tile with the stored events in order, for a store with gaps between positions. Stops
 * at the first contradiction.
 */
async function* compareInOrder(
  { readLeaves, untilLeaf }: ComparedLeaves,
  tiles: readonly LeafTile[],
): AsyncGenerator<LogFinding> {
  const sealed = sealedLeaves(tiles, untilLeaf)
  const first = Number(tiles[0]?.first_position)
  const { positions, hashes } = await readLeaves(first - 1, sealed.length)
  const differing = sealed.findIndex((hash, i) => hashes[i]?.equals(hash) !== true)
  if (differing < 0) return
  const position = positions[differing]
  const params = { leaf: Number(tiles[0]?.index) * TILE_WIDTH + differing }
  if (position === undefined) {
    const last = positions.at(-1) ?? first
    yield { kind: 'event-missing', position: last, code: 'LeavesRemoved', params }
  } else yield { kind: 'event-changed', position, code: 'LeafDiffers', params }
}

async function* compareTiles(
  { readLeaves, untilLeaf, end }: ComparedLeaves,
  tiles: readonly LeafTile[],
): AsyncGenerator<LogFinding> {
  const sealed = sealedLeaves(tiles, untilLeaf)
  const first = Number(tiles[0]?.first_position)
  const { positions, hashes } = await readLeaves(first - 1, sealed.length)
  const existing = new Set(positions.filter((position) => position <= end))
  for (const [i, hash] of sealed.entries()) {
    const position = positions[i]
    if (position !== undefined && position <= end && hashes[i]?.equals(hash)) continue
    // If positions have no gaps, the position of a leaf's event is known even if other events are
    // missing.
    const expected = first + i
    if (!existing.has(expected)) {
      yield* compareOneByOne(sealed, first, i, new Map(positions.map((p, n) => [p, hashes[n]])))
      return
    }
    yield { ...CHANGED, position: expected }
  }
}

/**
 * Compares the remaining hashes of a tile by position instead of by order, because an event is
 * missing.
 */
function* compareOneByOne(
  sealed: readonly Buffer[],
  first: number,
  from: number,
  byPosition: ReadonlyMap<number, Buffer | undefined>,
): Generator<LogFinding> {
  const last = Math.max(0, ...byPosition.keys())
  for (let i = from; i < sealed.length && first + i <= last; i++) {
    const hash = byPosition.get(first + i)
    if (hash?.equals(sealed[i] as Buffer)) continue
    yield { ...(hash === undefined ? REMOVED : CHANGED), position: first + i }
  }
  const count = first + sealed.length - 1 - last
  if (count > 0) {
    yield { kind: 'event-missing', position: last + 1, code: 'EventsRemoved', params: { count } }
  }
}

/** Compares the root of each full tile in level 0 with its hash in the tile above. */
async function* compareParents(pg: Pool, tiles: readonly LeafTile[]): AsyncGenerator<LogFinding> {
  const above = new Map<number, Buffer | null>()
  for (const { index, hashes, first_position: firstPosition } of tiles) {
    if (hashes.length < TILE_WIDTH * HASH_BYTES) continue
    const parent = Math.floor(Number(index) / TILE_WIDTH)
    if (!above.has(parent)) above.set(parent, await readTile(pg, 1, parent, null))
    const start = (Number(index) % TILE_WIDTH) * HASH_BYTES
    const root = rootOfHashes(splitHashes(hashes))
    if (
      above
        .get(parent)
        ?.subarray(start, start + HASH_BYTES)
        .equals(root)
    )
      continue
    const position = Number(firstPosition)
    yield { kind: 'tile-changed', position, code: 'TileDiffers', params: { tile: index, position } }
  }
}

/**
 * Compares the root of each checkpoint with the tiles, and verifies the checkpoint's signature if
 * the keys are known. Successive checkpoints that differ are one finding, because only the first of
 * them shows where the tiles were changed.
 */
async function* compareCheckpoints(
  { pg, keys, signal }: ComparisonDeps,
  { firstTile, untilLeaf }: LogPart,
): AsyncGenerator<LogFinding> {
  const smallest = firstTile * TILE_WIDTH
  const ranges = new DifferingRanges(await agreeingBefore(pg, smallest))
  for await (const page of checkpointPages(pg, smallest - 1)) {
    signal?.throwIfAborted()
    const tree = storedTree(pg)
    for (const { size, lastPosition: position, note, root } of page) {
      if (size > untilLeaf) break
      const checkpoint = parseCheckpointOrNull(note)
      if (checkpoint === null) {
        const params = { size, position }
        yield { kind: 'checkpoint-changed', position, code: 'StoredCheckpointMalformed', params }
        continue
      }
      const fault = keys?.signatureFault(checkpoint) ?? null
      if (fault !== null) yield { kind: 'checkpoint-signed-by-another-key', position, ...fault }
      const expected = await tree.root(size).catch(lostRoot)
      if (expected === 'leaf-lost') continue
      const isSame = expected?.equals(checkpoint.root) === true && checkpoint.root.equals(root)
      yield* differing(ranges.add({ size, position }, isSame && checkpoint.size === size))
    }
    if ((page.at(-1)?.size ?? 0) >= untilLeaf) break
  }
  yield* differing(ranges.end())
}

/**
 * Returns `leaf-lost` if a root cannot be computed because a tile of leaves is lost. The comparison
 * then skips the checkpoint, because another finding names this tile. For any other error, returns
 * null, because no other finding names a lost tile of a higher level.
 */
const lostRoot = (error: unknown): 'leaf-lost' | null =>
  error instanceof MissingHash && error.level === 0 ? 'leaf-lost' : null

function differing(params: DifferingCheckpoints | null): LogFinding[] {
  if (params === null) return []
  const code = 'TilesDifferFromCheckpoints'
  return [{ kind: 'checkpoint-changed', position: params.from, code, params }]
}

/**
 * Returns the last checkpoint below `size` if it agrees with the tiles. Returns the empty tree if
 * it does not agree, because the full verification that follows a finding names the range exactly.
 */
async function agreeingBefore(pg: Pool, size: number): Promise<CheckpointPlace> {
  const [before] = await listCheckpoints(pg, 1, size)
  const root =
    before &&
    (await storedTree(pg)
      .root(before.size)
      .catch(() => null))
  return before !== undefined && root?.equals(before.root) === true
    ? { size: before.size, position: before.lastPosition }
    : { size: 0, position: 0 }
}
