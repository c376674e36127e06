import type { Pool } from 'pg'
import { leafHash, type StoredRecord } from '../audit-program/stored-record.ts'
import { HASH_BYTES, splitHashes } from './leaf-hashes.ts'
import { TILE_WIDTH } from './merkle-tree.ts'
import { type LogCheckpoint, storedTree } from './read-checkpoints-and-tiles.ts'

/** The index of an event's leaf in the tree of a checkpoint, and the audit path of the leaf. */
export type Inclusion = { readonly index: number; readonly path: readonly Buffer[] }

/** Thrown if the event at a position is not the one that was sealed. */
export class SealedEventChanged extends Error {
  readonly position: number

  constructor(position: number) {
    super(`the event at position ${position} is not the one that was sealed`)
    this.name = 'SealedEventChanged'
    this.position = position
  }
}

/**
 * Proves that events are in the tree of one checkpoint. The result is null for events that the
 * checkpoint does not cover. Throws `SealedEventChanged`.
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
    // The events of one response are often in one tile.
    if (tile === null || indexIn(tile, record) < 0) tile = await tileOf(pg, position)
    const place = tile === null ? -1 : indexIn(tile, record)
    const index = (tile?.index ?? 0) * TILE_WIDTH + place
    if (place < 0 || index >= size) throw new SealedEventChanged(position)
    inclusions.push({ index, path: await tree.inclusionProof(index, size) })
  }
  return inclusions
}

type Tile = { readonly index: number; readonly hashes: readonly Buffer[] }

const indexIn = ({ hashes }: Tile, record: StoredRecord): number => {
  const hash = leafHash(record)
  return hashes.findIndex((one) => one.length === HASH_BYTES && one.equals(hash))
}

/** Returns the tile of leaves in which the event at the position must be. */
async function tileOf(pg: Pool, position: number): Promise<Tile | null> {
  const { rows } = await pg.query<{ index: string; hashes: Buffer }>(
    `select index, hashes from transparency_log.tiles
      where level = 0 and first_position <= $1 order by first_position desc limit 1`,
    [position],
  )
  const [row] = rows
  return row === undefined ? null : { index: Number(row.index), hashes: splitHashes(row.hashes) }
}
