import type { PoolClient } from 'pg'
import { HASH_BYTES, type Leaves, splitHashes } from './leaf-hashes.ts'
import { emptyRoot, nodeHash, rootOfHashes, TILE_WIDTH } from './merkle-tree.ts'

type Tile = { readonly index: number; hashes: Buffer[]; firstPosition: number; isChanged: boolean }

/**
 * Appends leaves to the log's tree, which is stored in tiles: groups of 256 hashes of one level.
 * `tiles[n]` is the last, incomplete tile of level `n`. When a tile is full, its root becomes a
 * hash of the level above, and the next tile begins.
 */
export class GrowingTiles {
  size: number
  private readonly tiles: Tile[]
  private readonly full: { readonly level: number; readonly tile: Tile }[] = []

  private constructor(size: number, tiles: Tile[]) {
    this.size = size
    this.tiles = tiles
  }

  /** Reads the last tile of each level of a tree of `size` leaves. Throws if hashes are missing. */
  static async load(client: PoolClient, size: number): Promise<GrowingTiles> {
    const tiles: Tile[] = []
    for (let count = size, level = 0; count > 0; count = Math.floor(count / TILE_WIDTH), level++) {
      const [index, width] = [Math.floor(count / TILE_WIDTH), count % TILE_WIDTH]
      const { rows } = await client.query<{ hashes: Buffer; first_position: string }>(
        'select hashes, first_position from transparency_log.tiles where level = $1 and index = $2',
        [level, index],
      )
      const hashes = splitHashes(rows[0]?.hashes ?? Buffer.alloc(0)).slice(0, width)
      if (hashes.length < width) throw new Error(`hashes of tile ${level}/${index} are missing`)
      const firstPosition = Number(rows[0]?.first_position ?? 0)
      tiles.push({ index, hashes, firstPosition, isChanged: false })
    }
    return new GrowingTiles(size, tiles)
  }

  append({ positions, hashes }: Leaves): void {
    for (const [i, hash] of hashes.entries()) this.add(0, hash, positions[i] ?? 0)
    this.size += hashes.length
  }

  private add(level: number, hash: Buffer, position: number): void {
    this.tiles[level] ??= { index: 0, hashes: [], firstPosition: 0, isChanged: false }
    const tile = this.tiles[level]
    if (tile.hashes.length === 0) tile.firstPosition = position
    tile.hashes.push(hash)
    tile.isChanged = true
    if (tile.hashes.length < TILE_WIDTH) return
    this.full.push({ level, tile })
    this.tiles[level] = { index: tile.index + 1, hashes: [], firstPosition: 0, isChanged: false }
    this.add(level + 1, rootOfHashes(tile.hashes), 0)
  }

  /** Returns the leaf hashes in the last tile, or an empty list if this tile has none. */
  lastLeaves(): readonly Buffer[] {
    return this.tiles[0]?.hashes ?? []
  }

  /** Returns the position of the first event in the last tile. */
  lastTilePosition(): number {
    return this.tiles[0]?.firstPosition ?? 0
  }

  /**
   * Returns the root of the tree. The root is computed from the complete subtrees, from the
   * smallest one (on the right) to the largest.
   */
  root(): Buffer {
    let root: Buffer | null = null
    for (const { hashes } of this.tiles) {
      for (let end = hashes.length, width = 1; end > 0; width *= 2) {
        if (end % (width * 2) === 0) continue
        const subtree = rootOfHashes(hashes.slice(end - width, end))
        root = root === null ? subtree : nodeHash(subtree, root)
        end -= width
      }
    }
    return root ?? emptyRoot()
  }

  /** Writes the tiles that have changed. */
  async save(client: PoolClient): Promise<void> {
    const last = this.tiles.map((tile, level) => ({ level, tile }))
    const changed = [...this.full, ...last.filter(({ tile }) => tile.isChanged)]
    await client.query(
      `insert into transparency_log.tiles as t (level, index, hashes, first_position)
        select * from unnest($1::int2[], $2::int8[], $3::bytea[], $4::int8[])
        on conflict (level, index) do update set hashes = excluded.hashes
          where length(t.hashes) < ${TILE_WIDTH * HASH_BYTES}`,
      [
        changed.map(({ level }) => level),
        changed.map(({ tile }) => tile.index),
        changed.map(({ tile }) => Buffer.concat(tile.hashes)),
        changed.map(({ tile }) => tile.firstPosition),
      ],
    )
  }
}
