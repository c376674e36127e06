import { Pool, type PoolClient } from 'pg'
import { ensureSchema } from '../../postgres/ensure-schema.ts'
import { surviveLostConnections } from '../../postgres/pools.ts'
import { databaseNow } from '../../postgres/shared-clock.ts'

/**
 * The services that joint appends (appends to several streams) need: mutual exclusion, a clock, and
 * the position up to which joint appends are complete. These services are needed, because
 * EventStoreDB lacks transactions over several streams.
 */
export type Locks = {
  /**
   * Runs `work` while no other process has a lock on any of `names`. If the locks can't be acquired
   * within `withinMs` milliseconds, throws `LockTimeout` and does not run `work`.
   */
  together<T>(names: readonly string[], withinMs: number, work: () => Promise<T>): Promise<T>
  /** Runs `work` unless another process has this lock. Returns true if `work` ran. */
  alone(name: string, work: () => Promise<void>): Promise<boolean>
  /**
   * Returns the position up to which all joint appends are complete, or 0 if no position was
   * stored.
   */
  completeUpTo(): Promise<number>
  setCompleteUpTo(position: number): Promise<void>
  /** Returns the time of the clock that all processes share, in Unix milliseconds. */
  now(): Promise<number>
  close(): Promise<void>
}

export class LockTimeout extends Error {
  constructor(names: readonly string[], cause: unknown) {
    super(`the streams ${names.join(', ')} could not be locked in time`, { cause })
    this.name = 'LockTimeout'
  }
}

/** Creates locks within one process, for tests. */
export function createMemoryLocks(): Locks {
  const held = new Set<string>()
  let waiting: (() => void)[] = []
  let completePosition = 0
  const release = (names: readonly string[]): void => {
    for (const name of names) held.delete(name)
    const all = waiting
    waiting = []
    for (const wake of all) wake()
  }
  return {
    together: async (names, withinMs, work) => {
      const deadline = performance.now() + withinMs
      while (names.some((name) => held.has(name))) {
        const leftMs = deadline - performance.now()
        if (leftMs <= 0) throw new LockTimeout(names, null)
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          setTimeout(resolve, leftMs).unref()
        })
      }
      for (const name of names) held.add(name)
      return await work().finally(() => release(names))
    },
    alone: async (name, work) => {
      if (held.has(name)) return false
      held.add(name)
      await work().finally(() => release([name]))
      return true
    },
    completeUpTo: async () => completePosition,
    setCompleteUpTo: async (position) => {
      completePosition = Math.max(completePosition, position)
    },
    now: async () => Date.now(),
    close: async () => {},
  }
}

const DDL = `
  create table if not exists joint_appends.healed (
    store text primary key,
    position int8 not null
  )`

const LOCK_ALL = `
  select pg_advisory_xact_lock(key) from (
    select distinct hashtextextended('joint-append:' || name, 0) as key
    from unnest($1::text[]) name order by key offset 0
  ) sorted`
const CONNECTIONS_MAX = 8
const ANSWER_WITHIN_MS = 15_000

/**
 * Creates locks that all processes on this Postgres share. They are advisory locks of a
 * transaction, which is open while the work runs. The locks have separate connections, because a
 * deadlock could occur if locks and work shared a pool. `store` is the name of the event store and
 * keeps the locks of different stores apart. A statement without an answer within `answerWithinMs`
 * milliseconds closes its connection.
 */
export async function createPostgresLocks(
  connectionString: string,
  store: string,
  answerWithinMs = ANSWER_WITHIN_MS,
): Promise<Locks> {
  const pg = new Pool({
    connectionString,
    max: CONNECTIONS_MAX,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: answerWithinMs,
  })
  surviveLostConnections(pg, () => {})
  await ensureSchema(pg, 'joint_appends', DDL)
  return { ...exclusion(pg), ...recoveryProgress(pg, store), close: () => pg.end() }
}

function exclusion(pg: Pool): Pick<Locks, 'together' | 'alone'> {
  return {
    together: async (names, withinMs, work) => {
      const take = async (client: PoolClient): Promise<true> => {
        try {
          const lockMs = Math.max(1, Math.ceil(withinMs))
          await client.query(`begin; set local lock_timeout = ${lockMs}`)
          await client.query(LOCK_ALL, [names])
          return true
        } catch (error) {
          throw new LockTimeout(names, error)
        }
      }
      const { outcome } = await holding(pg, take, work)
      return outcome as Awaited<ReturnType<typeof work>>
    },
    alone: async (name, work) => {
      const take = async (client: PoolClient): Promise<boolean> => {
        await client.query('begin')
        const { rows } = await client.query<{ mine: boolean }>(
          'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as mine',
          [`joint-append:${name}`],
        )
        return rows[0]?.mine === true
      }
      return (await holding(pg, take, work)).isTaken
    },
  }
}

function recoveryProgress(
  pg: Pool,
  store: string,
): Pick<Locks, 'completeUpTo' | 'setCompleteUpTo' | 'now'> {
  return {
    completeUpTo: async () => {
      const { rows } = await pg.query<{ position: string }>(
        'select position from joint_appends.healed where store = $1',
        [store],
      )
      return Number(rows[0]?.position ?? 0)
    },
    setCompleteUpTo: async (position) => {
      await pg.query(
        `insert into joint_appends.healed as kept (store, position) values ($1, $2)
         on conflict (store) do update
         set position = greatest(kept.position, excluded.position)`,
        [store, position],
      )
    },
    now: () => databaseNow(pg),
  }
}

/**
 * Acquires locks with `take`, and runs `work` if this succeeds. If the connection is lost during
 * the work, the locks are released. This does no harm, because the writes check exact revisions.
 */
async function holding<T>(
  pg: Pool,
  take: (client: PoolClient) => Promise<boolean>,
  work: () => Promise<T>,
): Promise<{ isTaken: boolean; outcome: T | null }> {
  const client = await pg.connect().catch((error) => {
    throw new LockTimeout([], error)
  })
  let isBroken = false
  const onLost = (): void => {
    isBroken = true
  }
  client.on('error', onLost)
  try {
    const isTaken = await take(client).catch((error) => {
      // Closing the connection releases its locks immediately, whereas a rollback might have to
      // wait.
      onLost()
      throw error
    })
    return { isTaken, outcome: isTaken ? await work() : null }
  } finally {
    if (!isBroken) await client.query('rollback').catch(onLost)
    client.off('error', onLost)
    client.release(isBroken)
  }
}
