import { TILE_WIDTH } from './merkle-tree.ts'

/** The size of a checkpoint, and the position of its last event. */
export type CheckpointPlace = { readonly size: number; readonly position: number }

/**
 * Successive checkpoints that differ from a tree. The checkpoint before them, of size `agreed`,
 * agrees with the tree. `from` is the position of the first event after that checkpoint. `to` is
 * the position of the last event that the first differing checkpoint covers, and `size` is the size
 * of that checkpoint. `count` is the number of differing checkpoints.
 */
export type DifferingCheckpoints = {
  readonly from: number
  readonly to: number
  readonly agreed: number
  readonly size: number
  readonly count: number
}

/**
 * Joins successive checkpoints that differ from a tree to one range. A changed event changes the
 * root of every later tree, and only the first of these checkpoints shows where the event is. The
 * checkpoints are passed in ascending order.
 */
export class DifferingRanges {
  private agreed: CheckpointPlace
  private open: DifferingCheckpoints | null = null

  /** `agreed` is a checkpoint before the first one that is passed, or the empty tree. */
  constructor(agreed: CheckpointPlace = { size: 0, position: 0 }) {
    this.agreed = agreed
  }

  /**
   * Adds a checkpoint. Returns the range that ends before this checkpoint, or null if none does.
   */
  add({ size, position }: CheckpointPlace, isEqual: boolean): DifferingCheckpoints | null {
    if (isEqual) {
      this.agreed = { size, position }
      return this.end()
    }
    const { size: agreed, position: last } = this.agreed
    this.open ??= { from: last + 1, to: position, agreed, size, count: 0 }
    this.open = { ...this.open, count: this.open.count + 1 }
    return null
  }

  /** Returns the range that has not ended yet, or null if there is none. */
  end(): DifferingCheckpoints | null {
    const { open } = this
    this.open = null
    return open
  }
}

/** A finding about one lost tile or several adjacent ones, with the numbers of their events. */
type LostTileRange =
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
 * Joins lost tiles to ranges of adjacent tiles, so that many lost tiles are few findings. `size` is
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
