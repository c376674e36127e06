import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'

/** The table with the users' keys. It is always rewritten, because a key opens all texts. */
const KEY_TABLE = 'vault.user_keys'
/** The table with secrets that are encrypted with the users' keys. */
const SECRETS_TABLE = 'vault.secrets'

/** A larger table is not rewritten, because nobody can read it meanwhile. In bytes. */
const REWRITTEN_BYTES_MAX = 64 * 1024 ** 2
/**
 * The maximum wait in milliseconds for the lock on a table. Statements of other processes on the
 * table wait behind this one.
 */
const LOCK_MS = 300
const SNAPSHOTS_MS = 10_000
const POLL_MS = 100

/** Reports whether the files may still contain rows of erased users. */
export async function hasErasedRows(pg: Pool): Promise<boolean> {
  const { rowCount } = await pg.query('select from vault.erased_rows limit 1')
  return rowCount !== 0
}

/**
 * Removes the rows that erasures have deleted or changed from the files of the tables, and returns
 * true. Postgres keeps such rows until a vacuum, and a plain vacuum only marks their space as free.
 * The table of keys, and small other tables, are therefore rewritten (VACUUM FULL), which deletes
 * the file with the old rows. Returns false if there was nothing to remove, or if a
 * transaction can still see the old rows, so that they would be kept. Throws if a table is in use.
 * In both cases, the next call tries again.
 */
export async function removeErasedRows(pg: Pool, textTables: readonly string[]): Promise<boolean> {
  const { rows } = await pg.query<{ id: string }>('select id from vault.erased_rows')
  if (rows.length === 0) return false
  if (!(await endOfSnapshots(pg))) return false
  const client = await pg.connect()
  try {
    await client.query(`set lock_timeout = ${LOCK_MS}`)
    // The tables of the vault come last, so that a text table in use does not repeat their rewrite.
    for (const table of [...textTables, SECRETS_TABLE]) await vacuum(client, table)
    await client.query(`vacuum (full) ${KEY_TABLE}`)
  } finally {
    // The connection is closed, because its setting must not apply to other statements.
    client.release(true)
  }
  const ids = rows.map(({ id }) => id)
  await pg.query('delete from vault.erased_rows where id = any($1::int8[])', [ids])
  return true
}

async function vacuum(client: PoolClient, table: string): Promise<void> {
  const { rows } = await client.query<{ bytes: string }>(
    'select pg_total_relation_size($1::regclass) as bytes',
    [table],
  )
  const isSmall = Number(rows[0]?.bytes) <= REWRITTEN_BYTES_MAX
  await client.query(`vacuum ${isSmall ? '(full)' : '(truncate false)'} ${table}`)
}

/**
 * Waits until no transaction can see rows that were deleted before this call. Returns false if one
 * still can after ten seconds.
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
