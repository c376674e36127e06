import { Pool, type PoolClient } from 'pg'
import { ensureSchema } from '../../postgres/ensure-schema.ts'
import { type Locks, LockTimeout } from './locks.ts'

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

/**
 * Locks of all processes on one Postgres: advisory ones, in order, in a transaction that lasts as
 * long as the work. Connections of their own, so that work which needs the ordinary pool never
 * waits for itself. `store` names what the healed position belongs to.
 */
export async function createPostgresLocks(connectionString: string, store: string): Promise<Locks> {
  const pg = new Pool({ connectionString, max: CONNECTIONS_MAX, connectionTimeoutMillis: 5_000 })
  pg.on('error', () => {})
  await ensureSchema(pg, 'joint_appends', DDL)
  return {
    together: async (names, withinMs, work) => {
      const take = async (client: PoolClient): Promise<true> => {
        try {
          await client.query(`set local lock_timeout = ${Math.max(1, Math.ceil(withinMs))}`)
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
        const { rows } = await client.query<{ mine: boolean }>(
          'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as mine',
          [`joint-append:${name}`],
        )
        return rows[0]?.mine === true
      }
      return (await holding(pg, take, work)).isTaken
    },
    healedUpTo: async () => {
      const { rows } = await pg.query<{ position: string }>(
        'select position from joint_appends.healed where store = $1',
        [store],
      )
      return Number(rows[0]?.position ?? 0)
    },
    setHealedUpTo: async (position) => {
      await pg.query(
        `insert into joint_appends.healed as kept (store, position) values ($1, $2)
         on conflict (store) do update
         set position = greatest(kept.position, excluded.position)`,
        [store, position],
      )
    },
    close: () => pg.end(),
  }
}

/**
 * Work done is done, though the lock's connection be lost meanwhile: what it wrote is guarded by
 * exact revisions, the lock only spares it conflicts.
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
    await client.query('begin')
    const isTaken = await take(client)
    return { isTaken, outcome: isTaken ? await work() : null }
  } finally {
    await client.query('rollback').catch(onLost)
    client.off('error', onLost)
    client.release(isBroken)
  }
}
