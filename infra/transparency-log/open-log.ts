import { randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import {
  isNameOfSite,
  parseVerifierKey,
  parseWitnessKey,
  type VerifierKey,
  witnessNameOf,
} from '../audit-program/signed-checkpoint.ts'
import { ConfigError } from '../config/config-types.ts'
import type { Core } from '../core-dependencies.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { LOG_SCHEMA } from './log-tables.ts'
import { createNoteSigner, type NoteSigner } from './note-signer.ts'

type LogCore = Pick<Core, 'config' | 'pg' | 'vault'>

/**
 * The site's transparency log. The key of `signer` signs the checkpoints of this site. The key of
 * `witness` signs the checkpoints of other sites, for which this site is a witness.
 */
export type TransparencyLog = {
  /** The name of the log, which is also the name of its key. */
  readonly origin: string
  readonly signer: NoteSigner
  /** Signs the checkpoints of other sites as a witness. */
  readonly witness: NoteSigner
}

/** Thrown if the signing key of this process is not, or no longer, the key of the log. */
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
 * Opens the log, or creates it if the database has none. The signing key is `TRANSPARENCY_LOG_KEY`
 * or is derived from `SECRET_KEY`. The signing key is never stored in the database. Throws
 * `WrongLogKey` if the log has another key.
 */
export async function openTransparencyLog({
  config,
  pg,
  vault,
}: LogCore): Promise<TransparencyLog> {
  const { seed, witnessSeed } = seedsOf({ config, vault })
  const { origin, verifierKey } = (await readLog(pg)) ?? (await beginLog(pg, seed))
  const signer = createNoteSigner(origin, seed)
  if (signer.verifierKey !== verifierKey) throw await wrongLogKey(pg, signer.verifierKey)
  return { origin, signer, witness: createNoteSigner(witnessNameOf(origin), witnessSeed) }
}

/**
 * Returns the seeds of the site's keys. The key of `seed` signs the site's log. With the key of
 * `witnessSeed`, the site signs other logs as a witness. `derivedSeed` is derived from
 * `SECRET_KEY`. `seed` equals `derivedSeed` unless `TRANSPARENCY_LOG_KEY` is configured.
 */
function seedsOf({ config, vault }: Pick<LogCore, 'config' | 'vault'>) {
  const derived = (use: string) => Buffer.from(vault.keyedHash('transparency-log', use), 'hex')
  const derivedSeed = derived('log')
  const seed = config.transparencyLog.key ?? derivedSeed
  return { seed, derivedSeed, witnessSeed: derived('witness') }
}

/**
 * Throws `ConfigError` if a witness of this site has one of the site's own keys. The site would
 * otherwise confirm its own history, and receipts would count as witnessed. The key that is derived
 * from `SECRET_KEY` is rejected even if another key is configured, because the derived key may have
 * signed the log earlier.
 */
export function refuseOwnKeyAsWitness(core: Pick<LogCore, 'config' | 'vault'>): void {
  const own = Object.values(seedsOf(core)).map((seed) => publicKeyOf(createNoteSigner('own', seed)))
  refuseWitnesses(core, ({ publicKey }) => own.some((one) => one.equals(publicKey)))
}

/**
 * Like `refuseOwnKeyAsWitness`, but checks the keys that the database names: all present and former
 * keys of the log, and all keys with a name of the site. A database without a log names no keys.
 */
export async function refuseRecordedKeyAsWitness({
  config,
  pg,
}: Pick<LogCore, 'config' | 'pg'>): Promise<void> {
  if (config.transparencyLog.witnesses.length === 0) return
  await ensureLogSchema({ pg })
  const log = await readLog(pg)
  if (log === null) return
  const { rows } = await pg.query<{ key: string }>(
    'select unnest(array[old_key, new_key]) as key from transparency_log.key_rotations',
  )
  const texts = [log.verifierKey, ...rows.map(({ key }) => key)]
  const own = texts.flatMap((text) => {
    try {
      return [parseVerifierKey(text).publicKey]
    } catch {
      // A damaged row must not prevent the start. A verification reports the row, and only a
      // running site can verify.
      return []
    }
  })
  refuseWitnesses({ config }, ({ name, publicKey }) => {
    return isNameOfSite(name, log.origin) || own.some((one) => one.equals(publicKey))
  })
}

function refuseWitnesses(
  { config }: Pick<LogCore, 'config'>,
  isOwn: (key: VerifierKey) => boolean,
): void {
  for (const { key: text } of config.transparencyLog.witnesses) {
    const key = parseWitnessKey(text)
    if (!isOwn(key)) continue
    const reason = `"${key.name}" has a key of this site itself: a witness must be another site`
    throw new ConfigError('TRANSPARENCY_LOG_WITNESSES', reason)
  }
}

const publicKeyOf = ({ witnessKey }: NoteSigner): Buffer => parseWitnessKey(witnessKey).publicKey

/** Returns the error for a key that is not, or no longer, the key of the log. */
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
