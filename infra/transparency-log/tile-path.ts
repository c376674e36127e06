import { TILE_WIDTH } from './merkle-tree.ts'

/** The address of a tile: its level, its index and the number of its hashes (C2SP tlog-tiles). */
export type TileAddress = {
  /** The level of a tile of hashes, or `entries` for a tile of log entries. */
  readonly level: number | 'entries'
  readonly index: number
  readonly width: number
}

const LEVEL_MAX = 63
const INDEX_MAX = Number.MAX_SAFE_INTEGER / TILE_WIDTH

/**
 * Parses the part of a URL path after `/tile/`, such as `0/x001/234.p/17`. Returns null unless it
 * is in the canonical form.
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
