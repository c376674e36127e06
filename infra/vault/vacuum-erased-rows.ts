import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, type Pool, type PoolClient } from 'pg'

/**
 * The maximum size in bytes of a table that is rewritten. Nobody can read a table while it is
 * rewritten, so a larger table would be unavailable for too long.
 */
const REWRITTEN_BYTES_MAX = 16 * 1024 ** 2
/** The maximum time in milliseconds for which a table is locked while it is rewritten. */
const REWRITE_MS = 2_000
/**
 * The maximum wait in milliseconds for the lock on a table. While the vacuum waits for the lock,
 * later statements of other processes on the table wait too.
 */
const LOCK_MS = 50
const SNAPSHOTS_MS = 10_000
const POLL_MS = 100

/** Reports whether the files may still contain rows of erased users. */
export async function hasErasedRows(pg: Pool): Promise<boolean> {
  const { rowCount } = await pg.query('select from vault.erased_rows limit 1')
  return rowCount !== 0
}

/** The maximum size in bytes, and time in milliseconds, of the rewrite of a table. */
type Limits = { readonly bytes: number; readonly ms: number }

/**
 * Removes the old versions of rows that erasures have deleted or changed. Postgres keeps these old
 * versions in the files of the tables. Rewrites each table (VACUUM FULL), which deletes the file
 * with the old rows. A table that is larger than `limits.bytes`, or whose rewrite takes longer than
 * `limits.ms`, gets a plain vacuum instead: the old rows stay in its file until later rows
 * overwrite them. Returns true if all tables were vacuumed, and false if there was nothing to
 * remove. Also returns false if a transaction can still see the old rows after ten seconds, because
 * Postgres would keep these rows. Throws if a table stays locked by another statement. In these
 * last two cases, the entries in `vault.erased_rows` are kept, so the next call tries again.
 */
export async function removeErasedRows(
  pg: Pool,
  textTables: readonly string[],
  limits: Limits = { bytes: REWRITTEN_BYTES_MAX, ms: REWRITE_MS },
): Promise<boolean> {
  const { rows } = await pg.query<ErasedRows>('select id, user_id from vault.erased_rows')
  if (rows.length === 0) return false
  if (!(await endOfSnapshots(pg))) return false
  const client = await pg.connect()
  try {
    await client.query(`set lock_timeout = ${LOCK_MS}`)
    // The tables of the vault come last. If a text table is locked, the next call would otherwise
    // rewrite the tables of the vault again.
    const tables = [...textTables, 'vault.secrets', ...(await partitionsOf(pg, rows))]
    for (const table of tables) await vacuum(client, table, limits)
  } finally {
    // The connection is closed, because its settings must not apply to other statements.
    client.release(true)
  }
  const ids = rows.map(({ id }) => id)
  await pg.query('delete from vault.erased_rows where id = any($1::int8[])', [ids])
  return true
}

/** An entry of `vault.erased_rows`. `user_id` is null if an earlier release made the entry. */
type ErasedRows = { readonly id: string; readonly user_id: string | null }

/**
 * Returns the partitions of `vault.user_keys` with the keys of these users. If an entry names no
 * user, returns all partitions.
 */
async function partitionsOf(pg: Pool, erased: readonly ErasedRows[]): Promise<string[]> {
  const { rows } = await pg.query<{ name: string }>(
    erased.every(({ user_id }) => user_id !== null)
      ? `select distinct tableoid::regclass as name from vault.user_keys
         where user_id = any($1::int8[])`
      : `select inhrelid::regclass as name from pg_inherits
         where inhparent = 'vault.user_keys'::regclass and $1::int8[] is not null`,
    [erased.map(({ user_id }) => user_id)],
  )
  return rows.map(({ name }) => name)
}

const QUERY_CANCELED = '57014'

/**
 * Rewrites a small table. If the table is large, or if the rewrite takes too long, only marks the
 * space of old rows as free.
 */
async function vacuum(client: PoolClient, table: string, limits: Limits): Promise<void> {
  // The limit of the previous table's rewrite must not apply to other statements.
  await client.query('set statement_timeout = 0')
  const { rows } = await client.query<{ bytes: string }>(
    'select pg_total_relation_size($1::regclass) as bytes',
    [table],
  )
  if (Number(rows[0]?.bytes) <= limits.bytes) {
    try {
      await client.query(`set statement_timeout = ${limits.ms}`)
      await client.query(`vacuum (full) ${table}`)
      return
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== QUERY_CANCELED) throw error
    }
  }
  // A plain vacuum does not block other statements, so it may take as long as it needs.
  await client.query('set statement_timeout = 0')
  await client.query(`vacuum (truncate false) ${table}`)
}

/**
 * Waits until no transaction can see rows that were deleted before this call. Returns false if a
 * transaction still can after ten seconds.
 */
async function endOfSnapshots(pg: Pool): Promise<boolean> {
  const { rows } = await pg.query<{ next: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
  )
  const until = performance.now() + SNAPSHOTS_MS
  for (;;) {
    const { rowCount } = await pg.query(
      `select from pg_stat_activity
       where datname = current_database() and age(backend_xmin) > age($1::xid8::xid) limit 1`,
      [rows[0]?.next],
    )
    if (rowCount === 0) return true
    if (performance.now() >= until) return false
    await delay(POLL_MS)
  }
}
