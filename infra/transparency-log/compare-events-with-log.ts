import type { Pool } from 'pg'
import { parseSignedCheckpoint, type SignedCheckpoint } from '../audit-program/signed-checkpoint.ts'
import type { KeyRing, SignatureFault } from '../audit-program/trusted-log-keys.ts'
import { HASH_BYTES, type ReadLeaves, splitHashes } from './leaf-hashes.ts'
import { rootOfHashes, TILE_WIDTH } from './merkle-tree.ts'
import { listCheckpoints, readTile, storedTree } from './read-checkpoints-and-tiles.ts'

/** A code in the catalogue of findings, with the params of its text. */
type Coded<Code extends string, Params> = { readonly code: Code; readonly params: Readonly<Params> }

type LogFault =
  | Coded<'EventDiffersFromSeal' | 'EventRemoved', Record<string, never>>
  | Coded<'EventsRemoved', { count: number }>
  | Coded<'LeavesRemoved' | 'LeafDiffers', { leaf: number }>
  | Coded<'TileDiffers', { tile: string; position: number }>
  | Coded<
      'StoredCheckpointMalformed' | 'StoredCheckpointDiffers',
      { size: number; position: number }
    >
  | SignatureFault

/**
 * A contradiction between the events and the transparency log. `position` is the event's position.
 */
export type LogFinding = LogFault & {
  readonly kind:
    | 'event-changed'
    | 'event-missing'
    | 'tile-changed'
    | 'checkpoint-changed'
    | 'checkpoint-signed-by-another-key'
  readonly position: number
}

type Comparing = {
  readonly pg: Pool
  /** Reads the hashes of the events. Null if the events were compared with the leaves before. */
  readonly readLeaves: ReadLeaves | null
  /** The keys of the log. Null if signatures are not verified. */
  readonly keys: KeyRing | null
  /** True if the positions of the store have no gaps, so that a removed event can be named. */
  readonly arePositionsDense: boolean
  /** The part of the leaves that is compared. The default is all. */
  readonly part?: LogPart
  readonly onProgress?: (leaves: number) => void
  readonly signal?: AbortSignal | undefined
}

/**
 * The leaves from the beginning of the tile `firstTile` up to, but without, the leaf `untilLeaf`.
 */
export type LogPart = { readonly firstTile: number; readonly untilLeaf: number }

const WHOLE: LogPart = { firstTile: 0, untilLeaf: Number.MAX_SAFE_INTEGER }

type LeafTile = {
  readonly index: string
  readonly hashes: Buffer
  readonly first_position: string
}

/**
 * Compares the events with the leaf hashes of the log, the tiles with each other, and the signed
 * checkpoints with the tiles, each within the same part of the log. It hashes about 16 000 events
 * at a time. It can't detect a history that was rewritten and signed again with the right key. Only
 * a witness, a receipt or the tree of an earlier verification shows that.
 */
export async function* compareEventsWithLog(deps: Comparing): AsyncGenerator<LogFinding> {
  const { pg, readLeaves, arePositionsDense, part = WHOLE, onProgress, signal } = deps
  const untilTile = Math.ceil(part.untilLeaf / TILE_WIDTH)
  const { rows: ends } = await pg.query<{ last_position: string }>(
    'select last_position from transparency_log.log',
  )
  const end = Number(ends[0]?.last_position ?? 0)
  for (let next = part.firstTile; next < untilTile; next += TILES_PER_READ) {
    signal?.throwIfAborted()
    const { rows: tiles } = await pg.query<LeafTile>(
      `select index, hashes, first_position from transparency_log.tiles
        where level = 0 and index >= $1 and index < $2 order by index`,
      [next, Math.min(next + TILES_PER_READ, untilTile)],
    )
    if (tiles.length === 0) break
    const compared = { readLeaves: readLeaves ?? NO_LEAVES, untilLeaf: part.untilLeaf, end }
    // With gaps between the positions, only the first event of each tile has a known position.
    const batches = arePositionsDense ? [tiles] : tiles.map((tile) => [tile])
    for (const batch of readLeaves === null ? [] : batches) {
      if (arePositionsDense) yield* compareTiles(compared, batch)
      else yield* compareInOrder(compared, batch)
    }
    yield* compareParents(pg, tiles)
    onProgress?.((next - part.firstTile + tiles.length) * TILE_WIDTH)
  }
  yield* compareCheckpoints(deps, part)
}

type Compared = {
  readonly readLeaves: ReadLeaves
  readonly untilLeaf: number
  /** The position of the last sealed event. */
  readonly end: number
}

const NO_LEAVES: ReadLeaves = async () => ({ positions: [], hashes: [] })

/** Returns the sealed leaf hashes of consecutive tiles, up to, but without, a leaf. */
const sealedLeaves = (tiles: readonly LeafTile[], untilLeaf: number): Buffer[] => {
  const first = Number(tiles[0]?.index) * TILE_WIDTH
  return tiles.flatMap(({ hashes }) => splitHashes(hashes)).slice(0, untilLeaf - first)
}

const TILES_PER_READ = 64
const CHANGED = { kind: 'event-changed', code: 'EventDiffersFromSeal', params: {} } as const
const REMOVED = { kind: 'event-missing', code: 'EventRemoved', params: {} } as const

/** Compares a tile if the positions of the store have gaps. It ends at the first contradiction. */
async function* compareInOrder(
  { readLeaves, untilLeaf }: Compared,
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
  { readLeaves, untilLeaf, end }: Compared,
  tiles: readonly LeafTile[],
): AsyncGenerator<LogFinding> {
  const sealed = sealedLeaves(tiles, untilLeaf)
  const first = Number(tiles[0]?.first_position)
  const { positions, hashes } = await readLeaves(first - 1, sealed.length)
  const found = new Set(positions.filter((position) => position <= end))
  for (const [i, hash] of sealed.entries()) {
    const position = positions[i]
    if (position !== undefined && position <= end && hashes[i]?.equals(hash)) continue
    // With dense positions, the event of a leaf is known even if other events are missing.
    const expected = first + i
    if (!found.has(expected)) {
      yield* compareOneByOne(sealed, first, i, new Map(positions.map((p, n) => [p, hashes[n]])))
      return
    }
    yield { ...CHANGED, position: expected }
  }
}

/** Compares hashes by position instead of by order, because an event is missing. */
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

/** Compares the root of each full tile with its hash in the tile above. */
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

/** Compares the root and the signature of each checkpoint with the tiles and the key. */
async function* compareCheckpoints(
  { pg, keys, signal }: Comparing,
  { firstTile, untilLeaf }: LogPart,
): AsyncGenerator<LogFinding> {
  const smallest = firstTile * TILE_WIDTH
  for (let below = untilLeaf + 1; below > smallest; ) {
    signal?.throwIfAborted()
    const page = await listCheckpoints(pg, 500, below)
    const tree = storedTree(pg)
    for (const { size, lastPosition: position, note, root } of page) {
      if (size < smallest) return
      const changed = { kind: 'checkpoint-changed', position, params: { size, position } } as const
      const checkpoint = parsedOrNull(note)
      if (checkpoint === null) {
        yield { ...changed, code: 'StoredCheckpointMalformed' }
        continue
      }
      const fault = keys?.signatureFault(checkpoint) ?? null
      if (fault !== null) yield { kind: 'checkpoint-signed-by-another-key', position, ...fault }
      const expected = await tree.root(size).catch(() => null)
      const isSame = expected?.equals(checkpoint.root) && checkpoint.root.equals(root)
      if (isSame && checkpoint.size === size) continue
      yield { ...changed, code: 'StoredCheckpointDiffers' }
    }
    const last = page.at(-1)
    if (last === undefined) return
    below = last.size
  }
}

function parsedOrNull(note: string): SignedCheckpoint | null {
  try {
    return parseSignedCheckpoint(note)
  } catch {
    return null
  }
}
