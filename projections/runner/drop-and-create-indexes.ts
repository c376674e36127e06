import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#infra/postgres/in-transaction.ts'

/**
 * Drops all indexes of tables, including primary keys, and returns the statements that create them
 * again. Creating an index for all rows at once costs much less than extending it row by row. The
 * definitions come from Postgres. For a partitioned table, Postgres describes the index with
 * `only`, but the index must be created in the partitions as well.
 */
export async function dropIndexes(
  client: PoolClient,
  schema: string,
  tables: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ drop: string; create: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
       format('alter table %s add constraint %I %s',
         conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
     from pg_constraint
     where conrelid = any ($1::regclass[]) and contype in ('p', 'u')
     union all
     select format('drop index %s', indexrelid::regclass),
       replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
     from pg_index
     where indrelid = any ($1::regclass[])
       and not exists (select from pg_constraint where conindid = indexrelid)`,
    [tables.map((table) => `${schema}.${table}`)],
  )
  for (const { drop } of rows) await client.query(drop)
  return rows.map(({ create }) => create)
}

/** Creates the indexes of filled tables, and collects statistics for the query planner. */
export async function createIndexes(
  pg: Pool,
  statements: readonly string[],
  tables: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  for (const statement of [...statements, ...tables.map((table) => `analyze ${table}`)]) {
    signal?.throwIfAborted()
    await inTransaction(pg, (client) => client.query(statement))
  }
}
