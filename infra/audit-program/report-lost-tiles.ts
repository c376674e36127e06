import type { Findings } from '#domain/audit/findings.ts'
import { lostTileRanges } from '../transparency-log/join-findings-to-ranges.ts'
import { TILE_WIDTH } from '../transparency-log/merkle-tree.ts'

/**
 * Collects the tiles (groups of 256 hashes) of the log that lack hashes, and reports them as ranges
 * of adjacent tiles with their events. Without these findings, the events of a lost tile would
 * count as unchanged although nothing confirms them.
 */
export class LostTiles {
  private readonly tiles = new Set<number>()
  private readonly findings: Findings
  private readonly size: number

  /** `size` is the number of leaves in the log. */
  constructor(findings: Findings, size: number) {
    this.findings = findings
    this.size = size
  }

  /** Adds the tile of a leaf whose hash is lost. */
  add(leaf: number): void {
    this.tiles.add(Math.floor(leaf / TILE_WIDTH))
  }

  /** Reports the lost tiles. Called once, after all events were read. */
  report(): void {
    for (const range of lostTileRanges(this.tiles, this.size)) {
      this.findings.expectNone('transparency-log', null, range)
    }
  }
}
