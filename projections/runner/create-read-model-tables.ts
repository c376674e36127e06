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
