import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import type { Projection } from '../projection.ts'
import { schemaOf } from '../projection-names.ts'

/**
 * The maximum number of attempts. A rebuild replaces a read model only once, so more attempts are
 * rarely needed.
 */
const ATTEMPTS_MAX = 10

/** Returns the qualified names of the live tables of projections. */
export const liveTablesOf = (projections: readonly Projection[]): string[] =>
  projections.flatMap(({ name, tables }) =>
    Object.keys(tables).map((table) => `${schemaOf(name)}.${table}`),
  )

/**
 * Runs `work`, which reads live tables, in one database snapshot. If a rebuild replaces a table
 * while `work` runs, `work` may have read the new table as of a time when the table was empty. In
 * this case, `work` is run again. With `isWritable`, `work` may also write tables, and must be able
 * to write them again.
 */
export async function readInSnapshot<T>(
  pg: Pool,
  tables: readonly string[],
  work: (client: PoolClient) => Promise<T>,
  { isWritable = false } = {},
): Promise<T> {
  const access = isWritable ? '; set local synchronous_commit = off' : ' read only'
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const outcome = await inTransaction(
      pg,
      async (client) => {
        const result = await work(client)
        return (await wereReplaced(client, tables)) ? null : { result }
      },
      { begin: `begin isolation level repeatable read${access}` },
    )
    if (outcome !== null) return outcome.result
  }
  throw new Error('the read models were replaced again and again while they were read')
}

/**
 * Reports whether one of the tables was replaced after the snapshot of the transaction.
 * `to_regclass` finds the table that has the name now. The query of `pg_class` finds the table that
 * had the name at the time of the snapshot. If the two differ, the table was replaced.
 */
async function wereReplaced(client: PoolClient, tables: readonly string[]): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from unnest($1::text[]) as t (name) where to_regclass(t.name)::oid is distinct from (
       select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = split_part(t.name, '.', 1) and c.relname = split_part(t.name, '.', 2)
     ) limit 1`,
    [tables],
  )
  return rowCount !== 0
}
