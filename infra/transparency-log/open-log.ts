import { randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Core } from '../core-dependencies.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { LOG_SCHEMA } from './log-tables.ts'
import { createNoteSigner, type NoteSigner } from './note-signer.ts'

type LogCore = Pick<Core, 'config' | 'pg' | 'vault'>

/**
 * The site's transparency log. One of its keys signs the checkpoints of this site. The other key
 * signs the checkpoints of other sites, for which this site is a witness.
 */
export type TransparencyLog = {
  /** The name of the log and of its key. */
  readonly origin: string
  readonly signer: NoteSigner
  /** Signs the checkpoints of other sites. */
  readonly witness: NoteSigner
}

/** Thrown if the key of this process is not the key of the log. */
export class WrongLogKey extends Error {
  /** True if the key of this process was once the log's key and has been replaced. */
  readonly isRetired: boolean

  constructor(isRetired: boolean) {
    super(
      isRetired
        ? 'the key of the transparency log was rotated, so this process signs no checkpoints: ' +
            'set TRANSPARENCY_LOG_KEY to the new key'
        : 'the transparency log of this database has another key, so this process signs no ' +
            'checkpoints: start with the original TRANSPARENCY_LOG_KEY or SECRET_KEY',
    )
    this.name = 'WrongLogKey'
    this.isRetired = isRetired
  }
}

export const ensureLogSchema = ({ pg }: Pick<Core, 'pg'>): Promise<void> =>
  ensureSchema(pg, 'transparency_log', LOG_SCHEMA)

/**
 * Opens the log. If the database has no log, creates one. The key is `TRANSPARENCY_LOG_KEY` or is
 * derived from `SECRET_KEY`. Neither is stored in the database. Throws `WrongLogKey`.
 */
export async function openTransparencyLog({
  config,
  pg,
  vault,
}: LogCore): Promise<TransparencyLog> {
  const seed =
    config.transparencyLog.key ?? Buffer.from(vault.keyedHash('transparency-log', 'log'), 'hex')
  const witnessSeed = Buffer.from(vault.keyedHash('transparency-log', 'witness'), 'hex')
  const { origin, verifierKey } = (await readLog(pg)) ?? (await beginLog(pg, seed))
  const signer = createNoteSigner(origin, seed)
  if (signer.verifierKey !== verifierKey) throw await wrongLogKey(pg, signer.verifierKey)
  return { origin, signer, witness: createNoteSigner(`${origin}/witness`, witnessSeed) }
}

/** Returns the error for a key that never was, or no longer is, the key of the log. */
export async function wrongLogKey(
  pg: Pick<Pool | PoolClient, 'query'>,
  ownKey: string,
): Promise<WrongLogKey> {
  const query = 'select from transparency_log.key_rotations where old_key = $1'
  const { rowCount } = await pg.query(query, [ownKey])
  return new WrongLogKey(rowCount !== 0)
}

type RecordedLog = { readonly origin: string; readonly verifierKey: string }

/** Returns the name and the public key of the log, or null if no log was created. */
export async function readLog(pg: Pool): Promise<RecordedLog | null> {
  const { rows } = await pg.query<RecordedLog>(
    'select origin, verifier_key "verifierKey" from transparency_log.log',
  )
  return rows[0] ?? null
}

/** Creates the log under a random name, unless another process creates it at the same time. */
async function beginLog(pg: Pool, seed: Uint8Array): Promise<RecordedLog> {
  const origin = `tallygate.local/${randomBytes(8).toString('hex')}`
  const { verifierKey } = createNoteSigner(origin, seed)
  await pg.query(
    `insert into transparency_log.log (origin, verifier_key) values ($1, $2)
      on conflict (is_only) do nothing`,
    [origin, verifierKey],
  )
  return (await readLog(pg)) ?? { origin, verifierKey }
}
