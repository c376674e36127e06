import { TILE_WIDTH } from './merkle-tree.ts'

/** A finding about one lost tile, or about adjacent ones, with the numbers of its events. */
export type LostTileRange =
  | {
      readonly code: 'TileMissing'
      readonly params: { readonly tile: string; readonly first: number; readonly last: number }
    }
  | {
      readonly code: 'TilesMissing'
      readonly params: {
        readonly firstTile: number
        readonly lastTile: number
        readonly first: number
        readonly last: number
      }
    }

/**
 * Joins lost tiles to ranges of adjacent ones, so that many lost tiles are few findings. `size` is
 * the number of leaves in the log.
 */
export function lostTileRanges(tiles: Iterable<number>, size: number): LostTileRange[] {
  const ranges: { firstTile: number; lastTile: number }[] = []
  for (const tile of [...tiles].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && tile === last.lastTile + 1) last.lastTile = tile
    else ranges.push({ firstTile: tile, lastTile: tile })
  }
  return ranges.map(({ firstTile, lastTile }) => {
    const [first, end] = [firstTile * TILE_WIDTH + 1, (lastTile + 1) * TILE_WIDTH]
    const events = { first, last: Math.min(end, size) }
    return firstTile === lastTile
      ? { code: 'TileMissing', params: { tile: String(firstTile), ...events } }
      : { code: 'TilesMissing', params: { firstTile, lastTile, ...events } }
  })
}
