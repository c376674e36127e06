import type { Pool } from 'pg'
import { leafHash, type StoredRecord } from '../audit-program/stored-record.ts'
import { HASH_BYTES, splitHashes } from './leaf-hashes.ts'
import { TILE_WIDTH } from './merkle-tree.ts'
import { type LogCheckpoint, MissingHash, storedTree } from './read-checkpoints-and-tiles.ts'

/**
 * The index of an event's leaf in the tree of a checkpoint, and the proof of inclusion (the audit
 * path of the leaf).
 */
export type Inclusion = { readonly index: number; readonly path: readonly Buffer[] }

/** Thrown if the event at a position is not the one that was sealed. */
export class SealedEventChanged extends Error {
  readonly isOperatorError = true
  readonly position: number

  constructor(position: number) {
    super(`the event at position ${position} is not the one that was sealed`)
    this.name = 'SealedEventChanged'
    this.position = position
  }
}

/**
 * Proves that events are in the tree of one checkpoint. The result has one entry per event, which
 * is null if the checkpoint does not cover the event. Throws `SealedEventChanged`, or `MissingHash`
 * if a tile that the proof needs is lost.
 */
export async function proveEvents(
  pg: Pool,
  records: readonly StoredRecord[],
  { size, lastPosition }: LogCheckpoint,
): Promise<readonly (Inclusion | null)[]> {
  const tree = storedTree(pg)
  const inclusions: (Inclusion | null)[] = []
  let tile: Tile | null = null
  for (const record of records) {
    const { position } = record
    if (position > lastPosition) {
      inclusions.push(null)
      continue
    }
    // The tile is kept for the next event, because the events of one response are often in one
    // tile.
    if (tile === null || indexIn(tile, record) < 0) tile = await tileOf(pg, position)
    const indexInTile = tile === null ? -1 : indexIn(tile, record)
    const index = (tile?.index ?? 0) * TILE_WIDTH + indexInTile
    if (indexInTile < 0) {
      const lost = await lostTileOf(pg, tile, position, size)
      throw lost === null ? new SealedEventChanged(position) : new MissingHash(0, lost * TILE_WIDTH)
    }
    if (index >= size) throw new SealedEventChanged(position)
    inclusions.push({ index, path: await tree.inclusionProof(index, size) })
  }
  return inclusions
}

type Tile = {
  readonly index: number
  readonly hashes: readonly Buffer[]
  /** The position of the first event in the tile. */
  readonly firstPosition: number
}

const indexIn = ({ hashes }: Tile, record: StoredRecord): number => {
  const hash = leafHash(record)
  return hashes.findIndex((one) => one.length === HASH_BYTES && one.equals(hash))
}

/**
 * Returns the tile that must contain the leaf of the event at this position, or null if there is
 * none.
 */
async function tileOf(pg: Pool, position: number): Promise<Tile | null> {
  const { rows } = await pg.query<{ index: string; hashes: Buffer; first_position: string }>(
    `select index, hashes, first_position from transparency_log.tiles
      where level = 0 and first_position <= $1 order by first_position desc limit 1`,
    [position],
  )
  const [row] = rows
  if (row === undefined) return null
  const firstPosition = Number(row.first_position)
  return { index: Number(row.index), hashes: splitHashes(row.hashes), firstPosition }
}

/**
 * Returns the index of the lost tile that had the leaf of an event. Returns null if no tile is
 * lost, which means that the event was changed. `tile` is the last stored tile that begins at or
 * before the event.
 */
async function lostTileOf(
  pg: Pool,
  tile: Tile | null,
  position: number,
  size: number,
): Promise<number | null> {
  if (tile === null) return 0
  const { index, hashes, firstPosition } = tile
  const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH)
  const whole = hashes.filter(({ length }) => length === HASH_BYTES)
  if (whole.length < width) return index
  // Each event has a higher position than the one before. An event with a position below
  // `firstPosition + TILE_WIDTH` can therefore only belong to this tile, which is not lost.
  if (position < firstPosition + TILE_WIDTH || (index + 1) * TILE_WIDTH >= size) return null
  const next = await pg.query('select from transparency_log.tiles where level = 0 and index = $1', [
    index + 1,
  ])
  return next.rowCount === 0 ? index + 1 : null
}
