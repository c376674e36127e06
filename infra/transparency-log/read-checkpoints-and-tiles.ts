import type { Pool } from 'pg'
import { HASH_BYTES } from './leaf-hashes.ts'
import { TILE_WIDTH, TileTree } from './merkle-tree.ts'
import { noteOf } from './note-signer.ts'

/** A signed checkpoint with the lines of all its signatures. */
export type LogCheckpoint = {
  /** The number of events in the tree, and the position of the last one. */
  readonly size: number
  readonly lastPosition: number
  readonly root: Buffer
  readonly note: string
  readonly createdAt: number
}

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

/** Returns the latest checkpoints of fewer than `below` events, in descending order. */
export async function listCheckpoints(
  pg: Pool,
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

/** Returns the first checkpoints of more than `size` events, in ascending order. */
export async function checkpointsAfter(
  pg: Pool,
  size: number,
  limit: number,
): Promise<LogCheckpoint[]> {
  const { rows } = await pg.query<Row>(
    `select ${COLUMNS} from transparency_log.checkpoints where size > $1 order by size limit $2`,
    [size, limit],
  )
  return rows.map(checkpointOf)
}

/** Returns the first checkpoint that includes the event at the position, or null. */
export async function checkpointWith(pg: Pool, position: number): Promise<LogCheckpoint | null> {
  const { rows } = await pg.query<Row>(
    `select ${COLUMNS} from transparency_log.checkpoints where last_position >= $1
      order by last_position limit 1`,
    [position],
  )
  return rows[0] === undefined ? null : checkpointOf(rows[0])
}

/**
 * Returns the last 200 checkpoints and the first checkpoint of each earlier day, in ascending order
 * of their sizes. A site signs about eight thousand checkpoints a day, but a proof needs only a
 * few.
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

/** Returns the notes in which the log's key was replaced, in order. */
export async function readKeyRotations(pg: Pool): Promise<string[]> {
  const { rows } = await pg.query<{ note: string }>(
    'select note from transparency_log.key_rotations order by number',
  )
  return rows.map(({ note }) => note)
}

/**
 * Returns the first `width` hashes of a tile, or null if the tile has fewer. If `width` is null,
 * returns all hashes.
 */
export async function readTile(
  pg: Pool,
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
 * Returns the tree of the stored tiles. The tree keeps each tile that it has read, so create a new
 * tree for each response.
 */
export function storedTree(pg: Pool): TileTree {
  const tiles = new Map<string, Promise<Buffer>>()
  const load = async (level: number, index: number): Promise<Buffer> =>
    (await readTile(pg, level, index, null)) ?? Buffer.alloc(0)
  return new TileTree(async (level, index) => {
    const tile = Math.floor(index / TILE_WIDTH)
    const key = `${level}/${tile}`
    const hashes = await (tiles.get(key) ?? tiles.set(key, load(level, tile)).get(key))
    const start = (index % TILE_WIDTH) * HASH_BYTES
    const hash = hashes?.subarray(start, start + HASH_BYTES)
    if (hash?.length !== HASH_BYTES) throw new Error(`hash ${level}/${index} is not in the log`)
    return hash
  })
}
