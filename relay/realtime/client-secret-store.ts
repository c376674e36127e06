import type { Pool } from 'pg'
import type { Sealed } from '#domain/shared/event.ts'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'

/**
 * A temporary key with which a browser can open sessions. Sessions are charged to the token with
 * which the temporary key was created.
 */
export type ClientSecret = {
  /** The keyed hash of the temporary key. The key itself is not stored. */
  readonly secretHash: string
  readonly userId: number
  /**
   * The hash of the token's key, by which the token is found. The temporary key is refused if the
   * token was deleted or disabled.
   */
  readonly keyLookup: string
  readonly pinnedChannelId: number | null
  /** The caller's name for the model. Sessions can't use another model. */
  readonly model: string
  readonly isBeta: boolean
  /** The settings with which sessions begin, as JSON, encrypted with the user's key. */
  readonly settings: Sealed
  /** The time at which the temporary key expires, in Unix milliseconds. */
  readonly expiresAt: number
}

/** Stores temporary keys in the database, which all relays share. */
export type ClientSecrets = {
  /**
   * Adds a temporary key. Returns false, and adds nothing, if the token has too many valid
   * temporary keys.
   */
  add(secret: ClientSecret, now: number): Promise<boolean>
  /**
   * Returns the temporary key with this hash, or null if there is none that is valid at the time
   * `now`.
   */
  find(secretHash: string, now: number): Promise<ClientSecret | null>
  /** Deletes temporary keys that have expired at the time `now`. */
  sweep(now: number): Promise<void>
}

/** The maximum number of valid temporary keys of one token. */
export const SECRETS_MAX = 1_000

const TABLE = `
  create table if not exists relay.realtime_client_secrets (
    secret_hash text primary key,
    user_id int8 not null,
    key_lookup text not null,
    pinned_channel_id int8,
    model text not null,
    is_beta boolean not null,
    settings text not null,
    expires_at int8 not null
  );
  create index if not exists realtime_client_secrets_of_token
    on relay.realtime_client_secrets (key_lookup, expires_at);
  create index if not exists realtime_client_secrets_at
    on relay.realtime_client_secrets (expires_at);
`

const INSERT = `
  insert into relay.realtime_client_secrets
    (secret_hash, user_id, key_lookup, pinned_channel_id, model, is_beta, settings, expires_at)
  select $1, $2, $3, $4, $5, $6, $7, $8
  where (
    select count(*) from relay.realtime_client_secrets where key_lookup = $3 and expires_at > $9
  ) < ${SECRETS_MAX}`

const FIND = `
  select secret_hash as "secretHash", user_id::int4 as "userId", key_lookup as "keyLookup",
    pinned_channel_id::int4 as "pinnedChannelId", model, is_beta as "isBeta", settings,
    expires_at::float8 as "expiresAt"
  from relay.realtime_client_secrets where secret_hash = $1 and expires_at > $2`

/** Creates the store. Its table is in the database schema `relay`. */
export async function createClientSecrets(pg: Pool): Promise<ClientSecrets> {
  await ensureSchema(pg, 'relay', TABLE)
  return {
    add: async (secret, now) => {
      const { secretHash, userId, keyLookup, pinnedChannelId, model, isBeta } = secret
      const { settings, expiresAt } = secret
      const values = [secretHash, userId, keyLookup, pinnedChannelId, model, isBeta]
      const { rowCount } = await pg.query(INSERT, [...values, settings, expiresAt, now])
      return rowCount === 1
    },
    find: async (secretHash, now) => {
      const query = { name: 'find-client-secret', text: FIND, values: [secretHash, now] }
      return (await pg.query<ClientSecret>(query)).rows[0] ?? null
    },
    sweep: async (now) => {
      await pg.query('delete from relay.realtime_client_secrets where expires_at <= $1', [now])
    },
  }
}
