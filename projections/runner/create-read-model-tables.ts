import type { Pool, PoolClient } from 'pg'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import type { Projection } from '../projection.ts'
import { schemaOf } from '../projection-names.ts'
import { writeCheckpoint } from './checkpoints.ts'

/**
 * Runs `work` while holding the locks with these names. Only one process at a time can hold a lock.
 * The locks are taken in the order of their names, so that two callers can't deadlock.
 */
export async function withNamedLocks<T>(
  pg: Pool,
  names: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  return inTransaction(pg, async (client) => {
    for (const name of names.toSorted()) {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
    }
    return work()
  })
}

/** Creates empty tables in `schema`, after dropping all tables in it. */
export async function createTables(
  client: PoolClient,
  projection: Projection,
  schema: string,
): Promise<void> {
  await client.query(`drop schema if exists ${schema} cascade; create schema ${schema}`)
  await client.query(`set local search_path to ${schema}`)
  await client.query(projection.sql)
  await client.query('set local search_path to default')
}

/** Creates the tables and the checkpoints of a read model, unless its checkpoints exist already. */
export const ensureReadModel = (pg: Pool, projection: Projection): Promise<void> =>
  inTransaction(pg, async (client) => {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `projection:${projection.name}`,
    ])
    const { rowCount } = await client.query('select from projections.checkpoint where name = $1', [
      projection.name,
    ])
    if (rowCount !== 0) return
    await createTables(client, projection, schemaOf(projection.name))
    await writeCheckpoint(
      client,
      projection,
      ALL_LANES.map(() => 0),
    )
  })

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
