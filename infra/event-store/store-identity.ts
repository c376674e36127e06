import type { Pool, PoolClient } from 'pg'
import { ConfigError } from '../config/config-types.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { type EventStore, StoreUnavailable } from './port.ts'

/**
 * The table that names the event store of this database. `is_used` means that the store may contain
 * events. The default is true, for rows of an earlier release, which lacked this column.
 *
 * NOTE: the column is checked first, because `alter table` waits for all readers of the table, even
 * if nothing has to be changed.
 */
const DDL = `
  create table if not exists store_identity.current (
    is_only boolean primary key default true check (is_only),
    name text not null,
    first_event text
  );
  do $$ begin
    if not exists (
      select from pg_attribute
      where attrelid = 'store_identity.current'::regclass and attname = 'is_used'
    ) then
      alter table store_identity.current add column is_used boolean not null default true;
    end if;
  end $$`

const POSTGRES = 'postgres'

export type StoreIdentity = {
  readonly name: string
  /** The id and position of the store's first event; null while the store is empty. */
  readonly firstEvent: string | null
  readonly isUsed: boolean
}

/**
 * Returns the name of a store: `postgres`, or `eventstoredb` with the hosts in `url`. The name
 * identifies the store while the store is empty.
 */
export function eventStoreName(url: string | null): string {
  if (url === null) return POSTGRES
  const [, hosts = ''] = /^[a-z+]+:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url) ?? []
  return `eventstoredb ${hosts.toLowerCase().split(',').sort().join(',')}`
}

export const firstEventName = (first: { readonly id: string; readonly position: number }): string =>
  `${first.id}@${first.position}`

export const isPostgres = ({ name }: Pick<StoreIdentity, 'name'>): boolean => name === POSTGRES

type Options = { readonly pg: Pool; readonly store: EventStore; readonly name: string }

/**
 * Checks that the database belongs to this event store, or assigns it to the store, and returns the
 * store. Throws `ConfigError` if the database belongs to another store, because two stores would
 * have different histories of the same accounts. A database that was never used accepts any store.
 *
 * A store is identified by the id and position of its first event, or by its name while the store
 * is empty.
 */
export async function settleStoreIdentity({ pg, store, name }: Options): Promise<EventStore> {
  const firstEvent = await withIdentityLocked(pg, async (client) => {
    // The store is read while the identity is locked, because another process may have written the
    // first event just before.
    const [first] = await store.readAll(0, 1)
    const firstEvent = first === undefined ? null : firstEventName(first)
    const before = await readStoreIdentity(client)
    const isSame =
      before.firstEvent === null ? before.name === name : before.firstEvent === firstEvent
    if (before.isUsed && !isSame) throw mismatchError(before, name)
    const isUsed = before.isUsed || firstEvent !== null
    const now = { name, firstEvent, isUsed }
    if (isSame) await writeIdentity(client, now)
    else await moveStoreIdentity(client, now)
    return firstEvent
  })
  return firstEvent === null && name !== POSTGRES ? markedAtFirstAppend(store, pg) : store
}

async function withIdentityLocked<Result>(
  pg: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  await ensureIdentitySchema(pg)
  const client = await pg.connect()
  let failure: Error | undefined
  try {
    await client.query('begin')
    await client.query('lock table store_identity.current in exclusive mode')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    failure = error as Error
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.release(failure instanceof ConfigError ? undefined : failure)
  }
}

export const ensureIdentitySchema = (pg: Pool): Promise<void> =>
  ensureSchema(pg, 'store_identity', DDL)

/**
 * Returns the identity of the event store to which the database belongs. Without a row, the
 * database is new or was used by a release that only supported Postgres.
 */
export async function readStoreIdentity(client: Pool | PoolClient): Promise<StoreIdentity> {
  const { rows } = await client.query<{
    name: string
    first_event: string | null
    is_used: boolean
  }>('select name, first_event, is_used from store_identity.current')
  const [row] = rows
  const name = row?.name ?? POSTGRES
  const firstEvent = row?.first_event ?? null
  // In Postgres, events may have been written after the row, so the events table is checked.
  const isUsed =
    name === POSTGRES
      ? firstEvent !== null || (await hasEvents(client))
      : (row?.is_used ?? false) || firstEvent !== null
  return { name, firstEvent, isUsed }
}

async function hasEvents(client: Pool | PoolClient): Promise<boolean> {
  if (!(await isTable(client, 'event_store.events'))) return false
  const { rows } = await client.query('select from event_store.events limit 1')
  return rows.length > 0
}

async function writeIdentity(client: PoolClient, now: StoreIdentity): Promise<void> {
  await client.query(
    `insert into store_identity.current (name, first_event, is_used) values ($1, $2, $3)
     on conflict (is_only) do update set name = excluded.name,
       first_event = excluded.first_event, is_used = excluded.is_used`,
    [now.name, now.firstEvent, now.isUsed],
  )
}

const POSITION_TABLES = [
  'snapshots.states',
  'projections.definition',
  'projections.lane',
  // Earlier releases had this table. It is a view now.
  'projections.checkpoint',
  'projections.ahead_of_events',
  'bookmarks.bookmarks',
  'joint_appends.healed',
] as const

/**
 * Assigns the database to another store. Positions are only valid in one store, so snapshots and
 * checkpoints are deleted. Read models are rebuilt from the events of the new store. Readers that
 * fill no read model continue at the end of the new store. NOTE: all processes that use the former
 * store must have ended.
 */
export async function moveStoreIdentity(client: PoolClient, now: StoreIdentity): Promise<void> {
  // The table of a feature that was never used does not exist, so a missing table is skipped.
  for (const table of POSITION_TABLES) {
    if (await isTable(client, table)) await client.query(`delete from ${table}`)
  }
  await writeIdentity(client, now)
}

async function isTable(client: Pool | PoolClient, name: string): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>(
    `select exists (
       select from pg_class where oid = to_regclass($1) and relkind in ('r', 'p')
     ) as is_there`,
    [name],
  )
  return rows[0]?.is_there ?? false
}

function mismatchError(before: StoreIdentity, given: string): ConfigError {
  const belongs = "this database's history is"
  if (isPostgres(before)) {
    if (given === POSTGRES) {
      return new ConfigError('DATABASE_URL', `${belongs} missing from it: restore it from a backup`)
    }
    return new ConfigError(
      'EVENT_STORE',
      `${belongs} in Postgres: start without EVENT_STORE, or move it first: \`npm run es:copy\``,
    )
  }
  const hosts = before.name.replace('eventstoredb ', '')
  if (given === POSTGRES) {
    return new ConfigError(
      'EVENT_STORE',
      `${belongs} in EventStoreDB at ${hosts}: set EVENT_STORE=eventstoredb and ` +
        `EVENTSTORE_URL=esdb://${hosts}, with the options that it had`,
    )
  }
  return new ConfigError(
    'EVENTSTORE_URL',
    `${belongs} in EventStoreDB at ${hosts}, but this server holds another one: set its address`,
  )
}

/**
 * Marks the database as used before the first append to an empty remote store. Without the mark, a
 * process that starts directly after the append would treat the database as new.
 */
function markedAtFirstAppend(store: EventStore, pg: Pool): EventStore {
  let isKnown = false
  const mark = () =>
    pg.query('update store_identity.current set is_used = true where not is_used').catch(() => {
      throw new StoreUnavailable('the database did not answer')
    })
  const recordFirst = async (): Promise<void> => {
    const [first] = await store.readAll(0, 1)
    if (first === undefined) return
    await pg.query('update store_identity.current set first_event = $1 where first_event is null', [
      firstEventName(first),
    ])
    isKnown = true
  }
  return {
    ...store,
    append: async (streams) => {
      if (isKnown) return await store.append(streams)
      await mark()
      const appended = await store.append(streams)
      // After a failure, the next append or start records the first event.
      await recordFirst().catch(() => {})
      return appended
    },
  }
}
