import type { Pool, PoolClient } from 'pg'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import { answerIn, isUnavailable } from '#infra/postgres/query-timeouts.ts'
import type { Projection } from '../projection.ts'
import { schemaOf } from '../projection-names.ts'
import { writeCheckpoint } from './checkpoints.ts'

type Terms = {
  readonly begin?: string
  /**
   * After this time in milliseconds, the connection is abandoned. It is then unknown whether the
   * transaction was committed.
   */
  readonly withinMs?: number
}

/** Runs `work` in a new transaction, by default without a time limit. */
export async function inTransaction<T>(
  pg: Pool,
  work: (client: PoolClient) => Promise<T>,
  { begin = 'begin', withinMs }: Terms = {},
): Promise<T> {
  const client = await pg.connect()
  // NOTE: a connection that is lost between two statements emits `error`. Without this listener,
  // the event would be an uncaught exception.
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
    // An unavailable server would not respond to a rollback either.
    if (!isUnavailable(error)) await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.off('error', onLost)
    // A failed connection is closed, because it may be in the middle of a protocol exchange.
    client.release(failure)
  }
}

/**
 * Runs `work` under locks with these names, each of which only one process can hold at a time. They
 * are taken in the order of their names, so that two callers never wait for each other.
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
