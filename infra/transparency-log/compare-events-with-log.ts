import type { Pool } from 'pg'
import {
  isSignedBy,
  parseSignedCheckpoint,
  type VerifierKey,
} from '../audit-program/signed-checkpoint.ts'
import { HASH_BYTES, type ReadLeaves, splitHashes } from './leaf-hashes.ts'
import { rootOfHashes, TILE_WIDTH } from './merkle-tree.ts'
import { listCheckpoints, readTile, storedTree } from './read-log.ts'

/** A contradiction between the events and the transparency log. `position` is that of an event. */
export type LogFinding = {
  readonly kind:
    | 'event-changed'
    | 'event-missing'
    | 'tile-changed'
    | 'checkpoint-changed'
    | 'checkpoint-signed-by-another-key'
  readonly position: number | null
  readonly detail: string
}

type Comparing = {
  readonly pg: Pool
  /** Null if the events were compared with the leaves before. */
  readonly readLeaves: ReadLeaves | null
  readonly key: VerifierKey
}

type LeafTile = {
  readonly index: string
  readonly hashes: Buffer
  readonly first_position: string
}

/**
 * Compares the events with the leaf hashes of the log, the tiles with each other, and the signed
 * checkpoints with the tiles. It hashes about 16 000 events at a time. It does not notice a history
 * that was rewritten and signed again with the right key, which only a witness or a receipt shows.
 */
export async function* compareEventsWithLog(deps: Comparing): AsyncGenerator<LogFinding> {
  const { pg, readLeaves } = deps
  const { rows: ends } = await pg.query<{ last_position: string }>(
    'select last_position from transparency_log.log',
  )
  const end = Number(ends[0]?.last_position ?? 0)
  for (let next = 0; ; next += TILES_PER_READ) {
    const { rows: tiles } = await pg.query<LeafTile>(
      `select index, hashes, first_position from transparency_log.tiles
        where level = 0 and index >= $1 order by index limit $2`,
      [next, TILES_PER_READ],
    )
    if (tiles.length === 0) break
    if (readLeaves !== null) yield* compareTiles(readLeaves, tiles, end)
    yield* compareParents(pg, tiles)
  }
  yield* compareCheckpoints(deps)
}

const TILES_PER_READ = 64
const CHANGED = 'the event differs from what was sealed'

async function* compareTiles(
  readLeaves: ReadLeaves,
  tiles: readonly LeafTile[],
  end: number,
): AsyncGenerator<LogFinding> {
  const sealed = tiles.flatMap(({ hashes }) => splitHashes(hashes))
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
    yield { kind: 'event-changed', position: expected, detail: CHANGED }
  }
}

/** After a missing event, the hashes are found by position instead of by order. */
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
    const isMissing = hash === undefined
    const kind = isMissing ? 'event-missing' : 'event-changed'
    yield { kind, position: first + i, detail: isMissing ? 'the event was removed' : CHANGED }
  }
  const lost = first + sealed.length - 1 - last
  if (lost > 0) {
    const detail = `${lost} events from here on were removed`
    yield { kind: 'event-missing', position: last + 1, detail }
  }
}

/** Compares the root of each full tile with its hash in the tile above. */
async function* compareParents(pg: Pool, tiles: readonly LeafTile[]): AsyncGenerator<LogFinding> {
  const above = new Map<number, Buffer | null>()
  for (const { index, hashes, first_position: position } of tiles) {
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
    const detail = `the hashes of tile ${index} differ from the tile above`
    yield { kind: 'tile-changed', position: Number(position), detail }
  }
}

/** Compares the root and the signature of each checkpoint with the tiles and the key. */
async function* compareCheckpoints({ pg, key }: Comparing): AsyncGenerator<LogFinding> {
  for (let below: number | undefined; ; ) {
    const page = await listCheckpoints(pg, 500, below)
    const tree = storedTree(pg)
    for (const { size, lastPosition: position, note, root } of page) {
      const at = `the checkpoint of ${size} events`
      const checkpoint = parseSignedCheckpoint(note)
      if (!isSignedBy(checkpoint, key)) {
        const detail = `${at} is not signed with the key of the log`
        yield { kind: 'checkpoint-signed-by-another-key', position, detail }
      }
      const expected = await tree.root(size).catch(() => null)
      const isSame = expected?.equals(checkpoint.root) && checkpoint.root.equals(root)
      if (isSame && checkpoint.size === size) continue
      yield { kind: 'checkpoint-changed', position, detail: `${at} differs from the tiles` }
    }
    below = page.at(-1)?.size
    if (below === undefined) return
  }
}
