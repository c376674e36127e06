import type { Pool } from 'pg'
import type { Sealed } from '#domain/shared/event.ts'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'

/** A file that a provider has for a user: the requests of a batch, or the results of one. */
export type StoredFile = {
  /** The id that callers see. Later files have greater ids. */
  readonly file: string
  readonly userId: number
  readonly bytes: number
  /** The times in unix milliseconds. */
  readonly createdAt: number
  readonly expiresAt: number
  /** The caller's name for the file. Null for results. */
  readonly name: Sealed | null
  /** The batch whose results the file has. Null for a file of the caller. */
  readonly batch: string | null
  readonly channelId: number
  readonly keyRef: string
  readonly upstreamId: string
}

export type PageOfFiles = {
  readonly limit: number
  readonly isAscending: boolean
  /** The file after which the page lies. */
  readonly after: string | null
  /** True for files of callers only, and false for results only. Null for both. */
  readonly isInput: boolean | null
  readonly at: number
}

/** Stores which file belongs to which user, and which key has it at its provider. */
export type FileStore = {
  /** Adds a file. Returns false if the user then had more than `max` files. */
  add(file: StoredFile, max: number): Promise<boolean>
  /** Returns the file, or undefined if the user has none with this id at the time `at`. */
  find(userId: number, file: string, at: number): Promise<StoredFile | undefined>
  list(userId: number, page: PageOfFiles): Promise<readonly StoredFile[]>
  remove(file: string): Promise<void>
  /** Returns files that have expired at the time `at`. */
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

/** Creates the store in the schema `relay`, which all relays share. */
export async function createFileStore(pg: Pool): Promise<FileStore> {
  await ensureSchema(pg, 'relay', TABLE)
  const rows = async (text: string, values: readonly unknown[]) =>
    (await pg.query<StoredFile>(`select ${ROW} from relay.files ${text}`, [...values])).rows
  return {
    add: async (added, max) => {
      const { file, userId, bytes, createdAt, expiresAt, name, batch } = added
      const { rowCount } = await pg.query(
        `insert into relay.files (file, user_id, bytes, created_at, expires_at, name, batch,
           channel_id, key_ref, upstream_id)
         select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
         where (select count(*) from relay.files where user_id = $2 and expires_at > $4) < $11
         on conflict (file) do update set bytes = excluded.bytes`,
        [
          ...[file, userId, bytes, createdAt, expiresAt, name, batch],
          ...[added.channelId, added.keyRef, added.upstreamId, max],
        ],
      )
      return rowCount === 1
    },
    find: async (userId, file, at) =>
      (await rows('where user_id = $1 and file = $2 and expires_at > $3', [userId, file, at]))[0],
    list: (userId, { limit, isAscending, after, isInput, at }) => {
      const [order, beyond] = isAscending ? ['asc', '>'] : ['desc', '<']
      return rows(
        `where user_id = $1 and expires_at > $2 and ($3::text is null or file ${beyond} $3)
           and ($4::bool is null or (batch is null) = $4)
         order by file ${order} limit $5`,
        [userId, at, after, isInput, limit],
      )
    },
    remove: async (file) => {
      await pg.query('delete from relay.files where file = $1', [file])
    },
    expired: (at, limit) =>
      rows('where expires_at <= $1 order by expires_at limit $2', [at, limit]),
  }
}
