import type { Pool, PoolClient } from 'pg'
import type { Sealed } from '#domain/shared/event.ts'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'
import { inTransaction } from '#infra/postgres/in-transaction.ts'

/**
 * The record of a file whose content a provider stores for a user. The file has the requests or the
 * results of a batch.
 */
export type StoredFile = {
  /** The public id of the file, which callers see. Later files have greater ids. */
  readonly file: string
  readonly userId: number
  readonly bytes: number
  /**
   * The time at which the file was created, in Unix milliseconds. `expiresAt` has the same unit.
   */
  readonly createdAt: number
  readonly expiresAt: number
  /** The caller's name for the file. Null for results. */
  readonly name: Sealed | null
  /** The id of the batch whose results the file has. Null for a file that the caller uploaded. */
  readonly batch: string | null
  readonly channelId: number
  readonly keyRef: string
  /**
   * The provider's id of the file. It is empty while the upload runs. It stays empty if the upload
   * failed or the process ended during the upload. A file without this id is not shown to callers.
   * The provider may nevertheless have the file, which is then found by its name.
   */
  readonly upstreamId: string
}

export type PageOfFiles = {
  readonly limit: number
  readonly isAscending: boolean
  /** The id of the last file on the previous page. */
  readonly after: string | null
  /** True for uploaded files, false for files with results, and null for both kinds. */
  readonly isInput: boolean | null
  readonly at: number
}

/**
 * The maximum number of files that one user may have, and the maximum sum of their lengths in
 * bytes. Null sets no limit.
 */
export type FileLimits = { readonly files: number | null; readonly bytes: number | null }
export type FileLimit = keyof FileLimits

/** The maximum time of an upload, in milliseconds. */
export const UPLOAD_MS = 600_000
/**
 * The time in milliseconds after which a file expires if its upload was not recorded. It is longer
 * than the longest upload.
 */
export const UNFINISHED_MS = 2 * UPLOAD_MS

/**
 * Reports whether a file counts towards its user's limits. A file without a provider's id counts
 * only while its upload runs. During the upload, the file expires exactly `UNFINISHED_MS` after its
 * creation. A file whose upload failed or could not be recorded expires at another time. This file
 * does not count, because the user can neither see nor delete it.
 */
export const countsTowardsLimits = (
  { upstreamId, createdAt, expiresAt }: Pick<StoredFile, 'upstreamId' | 'createdAt' | 'expiresAt'>,
  at: number,
): boolean => expiresAt > at && (upstreamId !== '' || expiresAt === createdAt + UNFINISHED_MS)

export const NO_FILE_LIMITS: FileLimits = { files: null, bytes: null }

/**
 * Returns the limit that a file of `addedBytes` would exceed together with the user's files
 * (`held`), or null if it would exceed none.
 */
export function limitExceeded(
  held: { readonly files: number; readonly bytes: number },
  addedBytes: number,
  { files, bytes }: FileLimits,
): FileLimit | null {
  if (files !== null && held.files >= files) return 'files'
  return bytes !== null && held.bytes + addedBytes > bytes ? 'bytes' : null
}

/**
 * Stores records of files in the database: the owner of each file, and the channel and key with
 * which it is reached at its provider. The contents of files are stored only at providers.
 */
export type FileStore = {
  /**
   * Adds a file and returns null. If the user's files would then exceed a limit, adds nothing and
   * returns this limit. The limits also hold if several files are added at the same time.
   */
  add(file: StoredFile, limits: FileLimits): Promise<FileLimit | null>
  /**
   * Records that a file was uploaded: the provider's id of the file and the time of its expiry.
   * Returns false if the file is no longer stored.
   */
  complete(file: Pick<StoredFile, 'file' | 'upstreamId' | 'expiresAt'>): Promise<boolean>
  /**
   * Returns the limit that another file of this length would exceed, or null if it would exceed
   * none.
   */
  exceeded(userId: number, bytes: number, at: number, limits: FileLimits): Promise<FileLimit | null>
  /**
   * Returns the file with this id, or undefined if the user has no such file at the time `at`. A
   * file without a provider's id is not found.
   */
  find(userId: number, file: string, at: number): Promise<StoredFile | undefined>
  list(userId: number, page: PageOfFiles): Promise<readonly StoredFile[]>
  remove(file: string): Promise<void>
  /** Changes the time of a file's expiry. */
  expire(file: string, expiresAt: number): Promise<void>
  /** Returns the ids of the users who have files. */
  owners(): Promise<readonly number[]>
  /** Sets the expiry to `at` for all files of these users that would expire later than `after`. */
  expireOfUsers(userIds: readonly number[], at: number, after: number): Promise<void>
  /** Returns at most `limit` files that have expired at the time `at`. */
  expired(at: number, limit: number): Promise<readonly StoredFile[]>
}

const TABLE = `
  create table if not exists relay.files (
    file text primary key,
    user_id int8 not null,
    bytes int8 not null,
    created_at int8 not null,
    expires_at int8 not null,
    name text,
    batch text,
    channel_id int8 not null,
    key_ref text not null,
    upstream_id text not null
  );
  create index if not exists files_of_user on relay.files (user_id, file);
  create index if not exists expired_files on relay.files (expires_at);
`
const ROW = `file, user_id::int4 as "userId", bytes::float8 as bytes,
  created_at::float8 as "createdAt", expires_at::float8 as "expiresAt", name, batch,
  channel_id::int4 as "channelId", key_ref as "keyRef", upstream_id as "upstreamId"`

/**
 * The first key of Postgres' advisory lock for the files of one user. It is the same in all relays.
 * The second key is the user's id.
 */
const LOCK = 0x66_69_6c_65

type Client = Pick<PoolClient, 'query'>

async function held(
  client: Client,
  userId: number,
  at: number,
): Promise<{ readonly files: number; readonly bytes: number }> {
  // The condition is that of `countsTowardsLimits`.
  const { rows } = await client.query<{ files: number; bytes: number }>(
    `select count(*)::float8 as files, coalesce(sum(bytes), 0)::float8 as bytes
     from relay.files where user_id = $1 and expires_at > $2
       and (upstream_id <> '' or expires_at = created_at + $3)`,
    [userId, at, UNFINISHED_MS],
  )
  return rows[0] ?? { files: 0, bytes: 0 }
}

async function insert(client: Client, added: StoredFile): Promise<void> {
  const { file, userId, bytes, createdAt, expiresAt, name, batch } = added
  await client.query(
    `insert into relay.files (file, user_id, bytes, created_at, expires_at, name, batch,
       channel_id, key_ref, upstream_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (file) do update set bytes = excluded.bytes`,
    [
      ...[file, userId, bytes, createdAt, expiresAt, name, batch],
      ...[added.channelId, added.keyRef, added.upstreamId],
    ],
  )
}

/** Creates the store. Its table is in the database schema `relay`, which all relays share. */
export async function createFileStore(pg: Pool): Promise<FileStore> {
  await ensureSchema(pg, 'relay', TABLE)
  const rows = async (text: string, values: readonly unknown[]) =>
    (await pg.query<StoredFile>(`select ${ROW} from relay.files ${text}`, [...values])).rows
  return {
    add: (added, limits) =>
      inTransaction(pg, async (client) => {
        const { userId, bytes, createdAt } = added
        // Two additions for the same user run one after the other, because the second must count
        // the file that the first one adds.
        await client.query('select pg_advisory_xact_lock($1, $2)', [LOCK, userId])
        const limit = limitExceeded(await held(client, userId, createdAt), bytes, limits)
        if (limit === null) await insert(client, added)
        return limit
      }),
    complete: async ({ file, upstreamId, expiresAt }) => {
      const text = 'update relay.files set upstream_id = $2, expires_at = $3 where file = $1'
      return (await pg.query(text, [file, upstreamId, expiresAt])).rowCount === 1
    },
    exceeded: async (userId, bytes, at, limits) =>
      limitExceeded(await held(pg, userId, at), bytes, limits),
    find: async (userId, file, at) =>
      (
        await rows(`where user_id = $1 and file = $2 and expires_at > $3 and upstream_id <> ''`, [
          userId,
          file,
          at,
        ])
      )[0],
    list: (userId, { limit, isAscending, after, isInput, at }) => {
      const [order, beyond] = isAscending ? ['asc', '>'] : ['desc', '<']
      return rows(
        `where user_id = $1 and expires_at > $2 and upstream_id <> ''
           and ($3::text is null or file ${beyond} $3)
           and ($4::bool is null or (batch is null) = $4)
         order by file ${order} limit $5`,
        [userId, at, after, isInput, limit],
      )
    },
    remove: async (file) => {
      await pg.query('delete from relay.files where file = $1', [file])
    },
    expire: async (file, expiresAt) => {
      await pg.query('update relay.files set expires_at = $2 where file = $1', [file, expiresAt])
    },
    owners: async () => {
      const text = 'select distinct user_id::int4 as "userId" from relay.files'
      return (await pg.query<{ userId: number }>(text)).rows.map(({ userId }) => userId)
    },
    expireOfUsers: async (userIds, at, after) => {
      const text = 'update relay.files set expires_at = $2 where user_id = any($1)'
      await pg.query(`${text} and expires_at > $3`, [userIds, at, after])
    },
    expired: (at, limit) =>
      rows('where expires_at <= $1 order by expires_at limit $2', [at, limit]),
  }
}
