import type { Pool, PoolClient } from 'pg'
import { HASH_BYTES } from './leaf-hashes.ts'
import { TILE_WIDTH, TileTree } from './merkle-tree.ts'
import { noteOf } from './note-signer.ts'

/**
 * A checkpoint of the log as a signed note with all of its signatures. `createdAt` is in Unix
 * seconds.
 */
export type LogCheckpoint = {
  /**
   * The number of events in the tree. `lastPosition` is the position of the last event in the tree.
   */
  readonly size: number
  readonly lastPosition: number
  readonly root: Buffer
  readonly note: string
  readonly createdAt: number
}

type Queryable = Pick<Pool | PoolClient, 'query'>

type Row = {
  readonly size: string
  readonly last_position: string
  readonly root: Buffer
  readonly body: string
  readonly signatures: readonly string[]
  readonly created_at: string
}

const COLUMNS = 'size, last_position, root, body, signatures, created_at'

const checkpointOf = ({ body, signatures, ...row }: Row): LogCheckpoint => ({
  size: Number(row.size),
  lastPosition: Number(row.last_position),
  root: row.root,
  note: noteOf(body, signatures),
  createdAt: Number(row.created_at),
})

/** Returns up to `limit` checkpoints of fewer than `below` events, the largest first. */
export async function listCheckpoints(
  pg: Queryable,
  limit: number,
  below = Number.MAX_SAFE_INTEGER,
): Promise<LogCheckpoint[]> {
  const { rows } = await pg.query<Row>(
    `select ${COLUMNS} from transparency_log.checkpoints where size < $1
      order by size desc limit $2`,
    [below, limit],
  )
  return rows.map(checkpointOf)
}

/** Returns up to `limit` checkpoints of more than `size` events, the smallest first. */
export async function checkpointsAfter(
  pg: Queryable,
  size: number,
  limit: number,
): Promise<LogCheckpoint[]> {
  const { rows } = await pg.query<Row>(
    `select ${COLUMNS} from transparency_log.checkpoints where size > $1 order by size limit $2`,
    [size, limit],
  )
  return rows.map(checkpointOf)
}

const CHECKPOINTS_PER_PAGE = 500

/** Yields all checkpoints of more than `size` events in pages, the smallest first. */
export async function* checkpointPages(
  pg: Queryable,
  size: number,
): AsyncGenerator<readonly LogCheckpoint[]> {
  for (let after = size; ; ) {
    const page = await checkpointsAfter(pg, after, CHECKPOINTS_PER_PAGE)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    after = last.size
  }
}

/**
 * Returns a selection of checkpoints from which proofs can start: the last 200, and the first one
 * of each earlier day, in ascending order of their tree sizes. A site signs about eight thousand
 * checkpoints a day.
 */
export async function selectCheckpoints(pg: Pool): Promise<LogCheckpoint[]> {
  const { rows } = await pg.query<Row>(
    `select distinct on (size) ${COLUMNS} from (
        (select * from transparency_log.checkpoints order by size desc limit 200)
        union all
        (select distinct on (created_at / 86400) * from transparency_log.checkpoints
          order by created_at / 86400, size)
      ) selected order by size`,
  )
  return rows.map(checkpointOf)
}

/** Returns the signed notes in which the log replaced its key, in order. */
export async function readKeyRotations(pg: Pool): Promise<string[]> {
  const { rows } = await pg.query<{ note: string }>(
    'select note from transparency_log.key_rotations order by number',
  )
  return rows.map(({ note }) => note)
}

/**
 * Returns the first `width` hashes of a tile, or null if the tile has fewer. If `width` is null,
 * returns all hashes of the tile.
 */
export async function readTile(
  pg: Queryable,
  level: number,
  index: number,
  width: number | null = TILE_WIDTH,
): Promise<Buffer | null> {
  const { rows } = await pg.query<{ hashes: Buffer }>(
    'select hashes from transparency_log.tiles where level = $1 and index = $2',
    [level, index],
  )
  if (width === null) return rows[0]?.hashes ?? null
  const hashes = rows[0]?.hashes.subarray(0, width * HASH_BYTES) ?? Buffer.alloc(0)
  return hashes.length < width * HASH_BYTES ? null : hashes
}

/**
 * Thrown if a tile of the log is lost, or has fewer hashes than the tree needs. `index` is the
 * index of the hash in its level. The operator can rebuild the tile from the events.
 */
export class MissingHash extends Error {
  readonly isOperatorError = true
  readonly level: number
  /** The tile as `level/index`. */
  readonly tile: string

  constructor(level: number, index: number) {
    const tile = `${level}/${Math.floor(index / TILE_WIDTH)}`
    super(
      `tile ${tile} of the transparency log is missing or incomplete: ` +
        'npm run audit -- rebuild-tiles rebuilds it from the events',
    )
    this.name = 'MissingHash'
    this.level = level
    this.tile = tile
  }
}

/**
 * Returns the tree that is stored in the tiles of the log. Its methods throw `MissingHash` if a
 * hash that they need is not stored. The tree caches each tile that it has read, so each response
 * needs a new tree.
 */
export function storedTree(pg: Queryable): TileTree {
  const tiles = new Map<string, Promise<Buffer>>()
  const load = async (level: number, index: number): Promise<Buffer> =>
    (await readTile(pg, level, index, null)) ?? Buffer.alloc(0)
  return new TileTree(async (level, index) => {
    const tile = Math.floor(index / TILE_WIDTH)
    const key = `${level}/${tile}`
    const hashes = await (tiles.get(key) ?? tiles.set(key, load(level, tile)).get(key))
    const start = (index % TILE_WIDTH) * HASH_BYTES
    const hash = hashes?.subarray(start, start + HASH_BYTES)
    if (hash?.length !== HASH_BYTES) throw new MissingHash(level, index)
    return hash
  })
}

/** The address of a tile: its level, its index and the number of its hashes (C2SP tlog-tiles). */
type TileAddress = {
  /** The level of a tile of hashes, or `entries` for a tile of log entries. */
  readonly level: number | 'entries'
  readonly index: number
  readonly width: number
}

const LEVEL_MAX = 63
const INDEX_MAX = Number.MAX_SAFE_INTEGER / TILE_WIDTH

/**
 * Parses the part of a URL path after `/tile/`, such as `0/x001/234.p/17`. Returns null unless the
 * path is in the canonical form.
 */
export function parseTilePath(path: string): TileAddress | null {
  const match = /^(entries|0|[1-9]\d?)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path)
  if (match === null) return null
  const [, level = '', groups = '', width = String(TILE_WIDTH)] = match
  if (/^x000\//.test(groups) || (match[3] !== undefined && Number(width) >= TILE_WIDTH)) return null
  const index = Number(groups.replaceAll(/x|\//g, ''))
  if (!(index <= INDEX_MAX)) return null
  if (level === 'entries') return { level, index, width: Number(width) }
  return Number(level) > LEVEL_MAX ? null : { level: Number(level), index, width: Number(width) }
}
