import type { Pool, PoolClient } from 'pg'
import { rotationLine } from '../audit-program/trusted-log-keys.ts'
import type { Core } from '../core-dependencies.ts'
import { GrowingTiles } from './append-to-tiles.ts'
import { leafReader } from './leaf-hashes.ts'
import { checkpointBody, createNoteSigner, type NoteSigner, noteOf } from './note-signer.ts'
import { ensureLogSchema, openTransparencyLog, readLog } from './open-log.ts'
import { assertUnchanged, lockLog } from './seal-events.ts'

type RotatingCore = Pick<Core, 'config' | 'now' | 'pg' | 'store' | 'vault'>

export type RotatedKey = {
  readonly newKey: string
  /** The checkpoint in which the key is replaced, signed with the old and the new key. */
  readonly note: string
  /** False if an earlier call had already rotated to this key, so nothing was changed. */
  readonly isRotatedNow: boolean
}

/**
 * Replaces the key of the log with the key of `seed`. The checkpoint of the last sealed events
 * names the old and the new key and is signed with both. Anybody who trusts one of the keys can
 * therefore trust the other. All changes are made in one transaction. If the process dies, either
 * the old or the new key is valid. If an earlier call has already rotated to this key, nothing is
 * changed. Throws if the log had the new key before, or began with it. Also throws `WrongLogKey` if
 * this process does not have the log's key, and `LogMismatch` if the last sealed events were
 * changed.
 */
export async function rotateLogKey(core: RotatingCore, seed: Uint8Array): Promise<RotatedKey> {
  await ensureLogSchema(core)
  const existing = await readLog(core.pg)
  if (existing !== null) {
    const { verifierKey } = createNoteSigner(existing.origin, seed)
    const note = await rotationTo(core.pg, verifierKey)
    if (verifierKey === existing.verifierKey && note !== null) {
      return { newKey: verifierKey, note, isRotatedNow: false }
    }
    if (note !== null || verifierKey === existing.verifierKey) {
      throw new Error('the log has or had this key already: rotate to a new one')
    }
  }
  const client = await core.pg.connect()
  let isBroken = true
  try {
    await client.query('begin')
    const rotated = await rotateInTransaction(client, core, seed)
    await client.query('commit')
    isBroken = false
    return rotated
  } finally {
    // Closing the connection within the transaction rolls the transaction back.
    client.release(isBroken)
  }
}

async function rotateInTransaction(
  client: PoolClient,
  core: RotatingCore,
  seed: Uint8Array,
): Promise<RotatedKey> {
  const log = await openTransparencyLog(core)
  const next = createNoteSigner(log.origin, seed)
  const oldKey = log.signer.verifierKey
  const { size, lastPosition } = await lockLog(client, oldKey)
  const isUsed = 'select from transparency_log.key_rotations where old_key = $1'
  if ((await client.query(isUsed, [next.verifierKey])).rowCount !== 0) {
    throw new Error('the log had this key before: rotate to a new one')
  }
  const tiles = await GrowingTiles.load(client, size)
  await assertUnchanged(client, { log, readLeaves: leafReader(core) }, tiles, lastPosition)
  const body = checkpointBody(log.origin, size, tiles.root())
  const note = rotationNote(body, log.signer, next)
  const seconds = Math.floor(core.now() / 1_000)
  await client.query(
    `insert into transparency_log.key_rotations (old_key, new_key, note, created_at)
      values ($1, $2, $3, $4)`,
    [oldKey, next.verifierKey, note, seconds],
  )
  await client.query(
    'update transparency_log.checkpoints set signatures = signatures || $2 where size = $1',
    [size, [next.sign(body)]],
  )
  await client.query('update transparency_log.log set verifier_key = $1', [next.verifierKey])
  return { newKey: next.verifierKey, note, isRotatedNow: true }
}

function rotationNote(body: string, old: NoteSigner, next: NoteSigner): string {
  const extended = `${body}${rotationLine(old.verifierKey, next.verifierKey)}`
  return noteOf(extended, [old.sign(extended), next.sign(extended)])
}

/**
 * Returns the note in which the log replaced its key with `newKey`, or null if there was no such
 * rotation.
 */
async function rotationTo(pg: Pool, newKey: string): Promise<string | null> {
  const { rows } = await pg.query<{ note: string }>(
    'select note from transparency_log.key_rotations where new_key = $1',
    [newKey],
  )
  return rows[0]?.note ?? null
}
