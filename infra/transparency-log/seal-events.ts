import type { Pool, PoolClient } from 'pg'
import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
} from '../audit-program/signed-checkpoint.ts'
import { GrowingTiles } from './append-to-tiles.ts'
import type { ReadLeaves } from './leaf-hashes.ts'
import { checkpointBody, noteOf } from './note-signer.ts'
import { type TransparencyLog, WrongLogKey, wrongLogKey } from './open-log.ts'

/** The maximum number of events that one checkpoint adds. */
export const EVENTS_PER_CHECKPOINT_MAX = 4_096

/**
 * Thrown if the events, the tiles and the last signed checkpoint contradict each other. In this
 * case, nothing is signed, because a signature would confirm a changed history.
 */
export class LogMismatch extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'LogMismatch'
  }
}

type SealDeps = {
  readonly pg: Pool
  readonly log: TransparencyLog
  readonly readLeaves: ReadLeaves
  /** True if the store leaves no gaps between positions, so that a gap means a removed event. */
  readonly arePositionsDense: boolean
  readonly now: () => number
}

/**
 * Seals the next events: appends their hashes to the tree and signs a checkpoint, in one
 * transaction. Returns the number of sealed events, or 0 if there are no new ones. If the process
 * dies before the commit, nothing is changed.
 */
export async function sealEvents(deps: SealDeps): Promise<number> {
  const client = await deps.pg.connect()
  let failure: unknown
  try {
    await client.query('begin')
    const sealed = await sealInTransaction(client, deps)
    await client.query('commit')
    return sealed
  } catch (error) {
    failure = error
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    const isExpected = failure instanceof LogMismatch || failure instanceof WrongLogKey
    client.release(failure !== undefined && !isExpected)
  }
}

async function sealInTransaction(client: PoolClient, deps: SealDeps): Promise<number> {
  const { log, readLeaves, arePositionsDense, now } = deps
  const { size, lastPosition } = await lockLog(client, log.signer.verifierKey)
  const leaves = await readLeaves(lastPosition, EVENTS_PER_CHECKPOINT_MAX, client)
  if (leaves.hashes.length === 0) return 0
  const gap = leaves.positions.findIndex((position, i) => position !== lastPosition + i + 1)
  if (arePositionsDense && gap >= 0) {
    throw new LogMismatch(`the event at position ${lastPosition + gap + 1} is missing`)
  }
  const tiles = await GrowingTiles.load(client, size)
  await assertUnchanged(client, deps, tiles, lastPosition)
  tiles.append(leaves)
  await tiles.save(client)
  const root = tiles.root()
  const body = checkpointBody(log.origin, tiles.size, root)
  const position = leaves.positions.at(-1) ?? 0
  await client.query(
    `insert into transparency_log.checkpoints
      (size, last_position, root, body, signatures, created_at) values ($1, $2, $3, $4, $5, $6)`,
    [tiles.size, position, root, body, [log.signer.sign(body)], Math.floor(now() / 1_000)],
  )
  await client.query('update transparency_log.log set size = $1, last_position = $2', [
    tiles.size,
    position,
  ])
  return leaves.hashes.length
}

/**
 * Locks the log until the transaction ends. Returns its size and the position of its last event.
 * Throws `WrongLogKey` if the key of the log was replaced after this process had opened the log.
 */
export async function lockLog(
  client: PoolClient,
  ownKey: string,
): Promise<{ readonly size: number; readonly lastPosition: number }> {
  const { rows } = await client.query<{ size: string; position: string; key: string }>(
    `select size, last_position as position, verifier_key as key
      from transparency_log.log for update`,
  )
  if (rows[0]?.key !== ownKey) throw await wrongLogKey(client, ownKey)
  return { size: Number(rows[0].size), lastPosition: Number(rows[0].position) }
}

/**
 * Throws `LogMismatch` unless the events, the tiles and the last checkpoint agree. The log's key
 * must have signed the last checkpoint. The root of the checkpoint must be the root of the stored
 * tiles. The events of the last tile must have the hashes in this tile.
 */
export async function assertUnchanged(
  client: PoolClient,
  { log, readLeaves }: Pick<SealDeps, 'log' | 'readLeaves'>,
  tiles: GrowingTiles,
  lastPosition: number,
): Promise<void> {
  if (tiles.size === 0) return
  const { rows } = await client.query<{ body: string; signatures: string[] }>(
    'select body, signatures from transparency_log.checkpoints where size = $1',
    [tiles.size],
  )
  const { body = '', signatures = [] } = rows[0] ?? {}
  const expected = checkpointBody(log.origin, tiles.size, tiles.root())
  if (body !== expected) {
    throw new LogMismatch(`the tiles differ from the checkpoint of ${tiles.size} events`)
  }
  const note = parseSignedCheckpoint(noteOf(body, signatures))
  if (!isSignedBy(note, parseVerifierKey(log.signer.verifierKey))) {
    throw new LogMismatch(`the checkpoint of ${tiles.size} events is signed with another key`)
  }
  const last = tiles.lastLeaves()
  const first = tiles.lastTilePosition()
  if (last.length === 0) return
  const { hashes, positions } = await readLeaves(first - 1, last.length, client)
  const isSame =
    hashes.length === last.length && hashes.every((hash, i) => hash.equals(last[i] as Buffer))
  if (!isSame || positions.at(-1) !== lastPosition) {
    throw new LogMismatch(`the events from position ${first} to ${lastPosition} have changed`)
  }
}
