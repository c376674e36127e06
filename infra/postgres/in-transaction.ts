import type { Pool, PoolClient } from 'pg'
import { answerIn, isUnavailable } from './query-timeouts.ts'

type Terms = {
  readonly begin?: string
  /**
   * The time limit in milliseconds. When this limit is reached, the connection is abandoned, and it
   * is unknown whether the transaction was committed.
   */
  readonly withinMs?: number
}

/** Runs `work` in a new transaction. By default, there is no time limit. */
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
    // A connection whose transaction failed is closed, because it may be in the middle of a
    // protocol exchange.
    client.release(failure)
  }
}
