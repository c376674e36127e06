import type { Pool, PoolClient } from 'pg'
import { parseSignedCheckpoint } from '../audit-program/signed-checkpoint.ts'
import type { KeyRing, SignatureFault } from '../audit-program/trusted-log-keys.ts'
import { inTransaction } from '../postgres/in-transaction.ts'
import { type DifferingCheckpoints, DifferingRanges } from './join-findings-to-ranges.ts'
import { HASH_BYTES, type ReadLeaves, splitHashes } from './leaf-hashes.ts'
import { rootOfHashes, TILE_WIDTH } from './merkle-tree.ts'
import {
  checkpointPages,
  listCheckpoints,
  readTile,
  storedTree,
} from './read-checkpoints-and-tiles.ts'
import { lockLog } from './seal-events.ts'

export type RebuildDeps = {
  readonly pg: Pool
  readonly readLeaves: ReadLeaves
  /** True if the positions of the store have no gaps. */
  readonly arePositionsDense: boolean
  /**
   * `ownKey`: the text of this process's key. `keys`: the keys that can have signed checkpoints.
   */
  readonly ownKey: string
  readonly keys: KeyRing
  readonly onProgress?: (done: number, total: number) => void
  readonly signal?: AbortSignal
}

type Coded<Code extends string, Params> = { readonly code: Code; readonly params: Params }

/** A code from the catalogue of findings, with the parameters of its text. */
export type RebuildFault =
  | Coded<'RebuiltTileDiffers', { tile: string; first: number; last: number }>
  | Coded<'TilesDifferFromCheckpoints', DifferingCheckpoints>
  | Coded<'CheckpointUnsigned', { source: 'signed' }>
  | SignatureFault

export type RebuiltTiles = {
  /** The tiles that were lost or incomplete, as `level/index`. */
  readonly lost: readonly string[]
  /** The reasons for which nothing was written. If there are none, all lost tiles were rebuilt. */
  readonly findings: readonly RebuildFault[]
}

type TilePlace = { readonly level: number; readonly index: number }

/** Thrown to roll back the rebuilt tiles, because they contradict the signed checkpoints. */
class Contradiction extends Error {
  readonly result: RebuiltTiles

  constructor(result: RebuiltTiles) {
    super('the rebuilt tiles contradict the signed checkpoints')
    this.result = result
  }
}

/**
 * Computes the lost and incomplete tiles of the log again: the tiles of level 0 from the events,
 * and all others from the tiles of the level below. The computed tiles are committed only if each
 * of them fits the tiles above it, and if the whole tree has the root of the latest signed
 * checkpoint. Without these checks, tiles that are computed from changed events would confirm the
 * change. The log is locked until the end, so that no event is sealed in between.
 */
export async function rebuildLostTiles(deps: RebuildDeps): Promise<RebuiltTiles> {
  try {
    return await inTransaction(deps.pg, (client) => rebuild(client, deps))
  } catch (error) {
    if (error instanceof Contradiction) return error.result
    throw error
  }
}

async function rebuild(client: PoolClient, deps: RebuildDeps): Promise<RebuiltTiles> {
  const { size } = await lockLog(client, deps.ownKey)
  const places: TilePlace[] = []
  for (let level = 0, count = size; count > 0; level += 1) {
    const indexes = await lostTilesOf(client, level, count)
    places.push(...indexes.map((index) => ({ level, index })))
    count = Math.floor(count / TILE_WIDTH)
  }
  const findings: RebuildFault[] = []
  for (const [done, place] of places.entries()) {
    deps.signal?.throwIfAborted()
    deps.onProgress?.(done, places.length)
    const isComplete = await rebuildTile(client, deps, place, size)
    if (!isComplete) findings.push(differing(place, size))
  }
  deps.onProgress?.(places.length, places.length)
  const lost = places.map(({ level, index }) => `${level}/${index}`)
  if (lost.length > 0 && findings.length === 0) {
    findings.push(...(await contradictions(client, deps.keys, places, size)))
  }
  if (findings.length > 0) throw new Contradiction({ lost, findings })
  return { lost, findings }
}

/** Returns the indexes of the missing or incomplete tiles in a level that has `count` hashes. */
async function lostTilesOf(client: PoolClient, level: number, count: number): Promise<number[]> {
  const { rows } = await client.query<{ index: string }>(
    `select expected.index from generate_series(0, $2::int8 - 1) expected(index)
      left join transparency_log.tiles t on t.level = $1 and t.index = expected.index
      where coalesce(octet_length(t.hashes), 0) <
        ${HASH_BYTES} * least(${TILE_WIDTH}, $3::int8 - expected.index * ${TILE_WIDTH})
      order by expected.index`,
    [level, Math.ceil(count / TILE_WIDTH), count],
  )
  return rows.map(({ index }) => Number(index))
}

/** Writes one tile, which is not visible before the commit. Returns false if hashes are missing. */
async function rebuildTile(
  client: PoolClient,
  deps: RebuildDeps,
  { level, index }: TilePlace,
  size: number,
): Promise<boolean> {
  const hashesOfLevel = Math.floor(size / TILE_WIDTH ** level)
  const width = Math.min(TILE_WIDTH, hashesOfLevel - index * TILE_WIDTH)
  const { hashes, firstPosition } =
    level === 0
      ? await leavesOf(client, deps, index, width)
      : { hashes: await rootsBelow(client, level, index, width), firstPosition: 0 }
  if (hashes.length < width) return false
  await client.query(
    `insert into transparency_log.tiles (level, index, hashes, first_position)
      values ($1, $2, $3, $4) on conflict (level, index)
      do update set hashes = excluded.hashes, first_position = excluded.first_position`,
    [level, index, Buffer.concat(hashes), firstPosition],
  )
  return true
}

/**
 * Hashes the events of a tile. If there are gaps between positions, finds these events by counting
 * from the first event of the last stored tile before this one.
 */
async function leavesOf(
  client: PoolClient,
  { readLeaves, arePositionsDense }: RebuildDeps,
  index: number,
  width: number,
): Promise<{ readonly hashes: readonly Buffer[]; readonly firstPosition: number }> {
  let [after, skipped] = [index * TILE_WIDTH, 0]
  if (!arePositionsDense) {
    const { rows } = await client.query<{ index: string; first_position: string }>(
      `select index, first_position from transparency_log.tiles
        where level = 0 and index < $1 order by index desc limit 1`,
      [index],
    )
    after = Number(rows[0]?.first_position ?? 1) - 1
    skipped = (index - Number(rows[0]?.index ?? 0)) * TILE_WIDTH
  }
  const { hashes, positions } = await readLeaves(after, skipped + width, client)
  return { hashes: hashes.slice(skipped), firstPosition: positions[skipped] ?? 0 }
}

/** Returns the roots of those full tiles below a tile that are stored. */
async function rootsBelow(
  client: PoolClient,
  level: number,
  index: number,
  width: number,
): Promise<readonly Buffer[]> {
  const first = index * TILE_WIDTH
  const { rows } = await client.query<{ hashes: Buffer }>(
    `select hashes from transparency_log.tiles
      where level = $1 and index >= $2 and index < $3 order by index`,
    [level - 1, first, first + width],
  )
  return rows
    .filter(({ hashes }) => hashes.length === TILE_WIDTH * HASH_BYTES)
    .map(({ hashes }) => rootOfHashes(splitHashes(hashes)))
}

/**
 * Compares rebuilt tiles with the tiles above them, and the tree with the latest signed checkpoint.
 * The hash in the tile above confirms a full tile. The root of the checkpoint confirms a tile that
 * is not full.
 */
async function contradictions(
  client: PoolClient,
  keys: KeyRing,
  places: readonly TilePlace[],
  size: number,
): Promise<RebuildFault[]> {
  const findings: RebuildFault[] = []
  const confirmed = new Set<string>()
  for (const place of places) {
    for (let { level, index } = place; ; level += 1) {
      if (confirmed.has(`${level}/${index}`)) break
      confirmed.add(`${level}/${index}`)
      const hashes = await readTile(client, level, index)
      if (hashes === null) break
      const above = await readTile(client, level + 1, Math.floor(index / TILE_WIDTH), null)
      const start = (index % TILE_WIDTH) * HASH_BYTES
      const expected = above?.subarray(start, start + HASH_BYTES)
      const isEqual = expected?.equals(rootOfHashes(splitHashes(hashes))) === true
      if (!isEqual) findings.push(differing({ level, index }, size))
      index = Math.floor(index / TILE_WIDTH)
    }
  }
  return findings.length > 0 ? findings : await compareLatestCheckpoint(client, keys, size)
}

async function compareLatestCheckpoint(
  client: PoolClient,
  keys: KeyRing,
  size: number,
): Promise<RebuildFault[]> {
  const [latest] = await listCheckpoints(client, 1, size + 1)
  if (latest === undefined || latest.size !== size) {
    return [{ code: 'CheckpointUnsigned', params: { source: 'signed' } }]
  }
  const checkpoint = parseSignedCheckpoint(latest.note)
  const fault = keys.signatureFault(checkpoint)
  if (fault !== null) return [fault]
  const root = await storedTree(client).root(size)
  return checkpoint.size === size && root.equals(checkpoint.root)
    ? []
    : await differingRanges(client)
}

/**
 * Returns the ranges of events that are covered by checkpoints whose roots differ from the tiles.
 */
async function differingRanges(client: PoolClient): Promise<RebuildFault[]> {
  const ranges = new DifferingRanges()
  const findings: RebuildFault[] = []
  const add = (params: ReturnType<DifferingRanges['end']>) => {
    if (params !== null) findings.push({ code: 'TilesDifferFromCheckpoints', params })
  }
  for await (const page of checkpointPages(client, 0)) {
    const tree = storedTree(client)
    for (const { size, lastPosition: position, root } of page) {
      const expected = await tree.root(size)
      add(ranges.add({ size, position }, expected.equals(root)))
    }
  }
  add(ranges.end())
  return findings
}

/**
 * Returns the finding about a tile whose rebuild failed or contradicts the tile above, with the
 * numbers of the tile's events.
 */
function differing({ level, index }: TilePlace, size: number): RebuildFault {
  const width = TILE_WIDTH ** (level + 1)
  const [first, last] = [index * width + 1, Math.min((index + 1) * width, size)]
  return { code: 'RebuiltTileDiffers', params: { tile: `${level}/${index}`, first, last } }
}
