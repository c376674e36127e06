import type { Pool, PoolClient } from 'pg'
import { ALL_LANES } from '#infra/event-bus/lanes.ts'
import { answerIn, isUnavailable } from '#infra/postgres/bounded.ts'
import { schemaOf } from '../names.ts'
import type { Projection } from '../projection.ts'
import { writeCheckpoint } from './checkpoints.ts'

type Terms = {
  readonly begin?: string
  /**
   * After this time the connection is abandoned; whether the transaction committed is then unknown.
   */
  readonly withinMs?: number
}

/** Runs `work` in one separate transaction, without a time limit by default. */
export async function inTransaction<T>(
  pg: Pool,
  work: (client: PoolClient) => Promise<T>,
  { begin = 'begin', withinMs }: Terms = {},
): Promise<T> {
  const client = await pg.connect()
  // NOTE: a connection lost between two statements emits an error event, which would be uncaught
  // without this listener.
  const onLost = (): void => {}
  client.on('error', onLost)
  let failure: Error | undefined
  const transact = async (): Promise<T> => {
    await client.query(begin)
    const outcome = await work(client)
    await client.query('commit')
    return outcome
  }
  try {
    return await (withinMs === undefined ? transact() : answerIn(transact(), withinMs))
  } catch (error) {
    failure = error as Error
    // A server that did not respond does not respond to this either.
    if (!isUnavailable(error)) await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.off('error', onLost)
    // A failed connection may be in the middle of an exchange and is never reused.
    client.release(failure)
  }
}

/** Runs `work` while no other process runs anything under the same name. */
export async function withNamedLock<T>(pg: Pool, name: string, work: () => Promise<T>): Promise<T> {
  return inTransaction(pg, async (client) => {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
    return work()
  })
}

/** Creates the tables of a projection in `schema`, empty, and drops those that were there. */
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

/** Creates the read model when it does not exist; an existing one stays as it is. */
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
