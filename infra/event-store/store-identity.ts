import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import type { EventStore } from './port.ts'

const DDL = `
  create table if not exists store_identity.current (
    is_only boolean primary key default true check (is_only),
    name text not null,
    first_event text
  )`

const POSTGRES = 'postgres'

type Identity = {
  readonly name: string
  /** Id and position of the first event; null while there is none. */
  readonly firstEvent: string | null
}

/** `postgres`, or the hosts of EventStoreDB: what a store is called while it is empty. */
export function eventStoreName(url: string | null): string {
  if (url === null) return POSTGRES
  const [, hosts = ''] = /^[a-z+]+:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url) ?? []
  return `eventstoredb ${hosts.toLowerCase().split(',').sort().join(',')}`
}

type Options = {
  readonly pg: Pool
  readonly store: EventStore
  readonly name: string
  readonly log: Logger
}

/**
 * Positions belong to one store. Where the database last stood beside another one, its snapshots
 * and the places of its read models are dropped, and both are made anew from this store's events.
 *
 * A store is known by its first event and that one's position, and by its name while it is empty.
 * NOTE: no process that uses the other store may still be running.
 */
export async function settleStoreIdentity({ pg, store, name, log }: Options): Promise<void> {
  const [first] = await store.readAll(0, 1)
  const firstEvent = first === undefined ? null : `${first.id}@${first.position}`
  await ensureSchema(pg, 'store_identity', DDL)
  const client = await pg.connect()
  let failure: Error | undefined
  try {
    await client.query('begin')
    await client.query('lock table store_identity.current in exclusive mode')
    const before = await identityBefore(client)
    if (!isSame(before, { name, firstEvent })) {
      log.warn({ before: before.name, name }, 'another event store: read models begin anew')
      await dropWhatHasPositions(client)
    }
    await client.query(
      `insert into store_identity.current (name, first_event) values ($1, $2)
       on conflict (is_only) do update
       set name = excluded.name, first_event = excluded.first_event`,
      [name, firstEvent],
    )
    await client.query('commit')
  } catch (error) {
    failure = error as Error
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.release(failure)
  }
}

/** A database without a row is new, or of a release that knew no other store than Postgres. */
async function identityBefore(client: PoolClient): Promise<Identity> {
  const { rows } = await client.query<{ name: string; first_event: string | null }>(
    'select name, first_event from store_identity.current',
  )
  return { name: rows[0]?.name ?? POSTGRES, firstEvent: rows[0]?.first_event ?? null }
}

const isSame = (before: Identity, now: Identity): boolean =>
  before.firstEvent === null ? before.name === now.name : before.firstEvent === now.firstEvent

/** Tables of parts that were never here are not missed. */
async function dropWhatHasPositions(client: PoolClient): Promise<void> {
  for (const table of ['snapshots.states', 'projections.checkpoint', 'joint_appends.healed']) {
    const { rows } = await client.query<{ is_there: boolean }>(
      'select to_regclass($1) is not null as is_there',
      [table],
    )
    if (rows[0]?.is_there) await client.query(`delete from ${table}`)
  }
}
