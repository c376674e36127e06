import { Pool } from 'pg'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { openCheckpoint } from '#infra/event-bus/reader-checkpoint.ts'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import { openEventStore } from '#infra/event-store/open-event-store.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { createPostgresSnapshots, type Snapshots } from '#infra/event-store/snapshots.ts'
import { eventStoreName, firstEventName } from '#infra/event-store/store-identity.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { to } from './conformance.ts'

const log = pino({ level: 'silent' })
const keyedHash = (purpose: string, text: string) => `${purpose} ${text}`
let database: Awaited<ReturnType<typeof testDatabase>>
let pg: Pool
let snapshots: Snapshots

function openPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString })
  // A connection that is closing while the database is dropped may emit an error.
  pool.on('error', () => {})
  return pool
}

beforeEach(async () => {
  database = await testDatabase()
  pg = openPool(database.url)
  snapshots = await createPostgresSnapshots({ pg, vault: { keyedHash }, log })
})
afterEach(async () => {
  await pg.end()
  await database.drop()
})

/** Opens an event store, runs `work` with it, and closes it. */
async function onStore(url: string | null, work: (store: EventStore) => Promise<void>) {
  const store = await openEventStore({ url, database: database.url, pg, log })
  await work(store).finally(() => store.close())
}

const nothing = async () => {}
const keepSnapshot = () =>
  snapshots.save('a', { version: 1, revision: 0, position: 1, state: { n: 1 } })
const hasSnapshot = async () => (await snapshots.load('a')) !== null

async function startServer() {
  const server = await startEventStoreDbServer()
  onTestFinished(() => server.stop())
  return server
}

it('a database that was used with one EventStoreDB is refused with any other store', async () => {
  const [one, two] = [await startServer(), await startServer()]
  const host = new URL(one.url.replace('esdb', 'http')).host
  await onStore(one.url, async (store) => {
    await store.append([to('a', 'none')])
    await keepSnapshot()
  })
  await expect(onStore(null, nothing)).rejects.toThrow(
    `EVENT_STORE: this database's history is in EventStoreDB at ${host}: ` +
      `set EVENT_STORE=eventstoredb and EVENTSTORE_URL=esdb://${host}`,
  )
  await expect(onStore(two.url, nothing)).rejects.toThrow(
    `EVENTSTORE_URL: this database's history is in EventStoreDB at ${host}`,
  )
  expect(await hasSnapshot()).toBe(true)
  // The address of the server may change, because the store is identified by its first event.
  await onStore(one.url.replace('127.0.0.1', 'localhost'), nothing)
  await onStore(one.url, nothing)
  expect(await hasSnapshot()).toBe(true)
})

it('a first append whose outcome is unknown counts as use', async () => {
  const server = await startServer()
  await onStore(server.url, async (store) => {
    server.slowDown(60_000)
    const appending = store.append([to('a', 'none')]).catch(() => {})
    const isUsed = async () =>
      (await pg.query('select is_used from store_identity.current')).rows[0]?.is_used
    await expect.poll(isUsed).toBe(true)
    await server.stop()
    await appending
  })
  await expect(onStore(null, nothing)).rejects.toThrow('EVENT_STORE: ')
})

it('two processes can start on a new store; the later one sees the first one’s data', async () => {
  const server = await startServer()
  await onStore(server.url, nothing)
  const first = await pg.connect()
  await first.query('begin; lock table store_identity.current in exclusive mode')
  const later = openEventStore({ url: server.url, database: database.url, pg, log })
  const waiting = async () =>
    (
      await pg.query(`select from pg_locks
        where not granted and relation = 'store_identity.current'::regclass`)
    ).rowCount
  await expect.poll(waiting).toBe(1)
  const store = await createEventStoreDbStore({ url: server.url, locks: createMemoryLocks(), log })
  await store.append([to('a', 'none')])
  const [event] = await store.readAll(0, 1)
  await store.close()
  await first.query('update store_identity.current set is_used = true, first_event = $1', [
    event && firstEventName(event),
  ])
  await first.query('commit')
  first.release()
  await (await later).close()
})

it('a start does not wait for a reader of the store’s identity', async () => {
  await onStore(null, nothing)
  const reader = await pg.connect()
  await reader.query('begin; select from store_identity.current')
  await onStore(null, nothing)
  await reader.query('commit')
  reader.release()
})

it('a database from a release that did not record its use counts as used', async () => {
  const [one, two] = [await startServer(), await startServer()]
  await onStore(one.url, nothing)
  await pg.query('alter table store_identity.current drop column is_used')
  await expect(onStore(two.url, nothing)).rejects.toThrow('EVENTSTORE_URL: ')
})

it('a database with its own events is refused with EventStoreDB, with or without row', async () => {
  const server = await startServer()
  await onStore(null, async (store) => void (await store.append([to('a', 'none')])))
  const said =
    "EVENT_STORE: this database's history is in Postgres: start without EVENT_STORE, " +
    'or move it first: `npm run es:copy`'
  await expect(onStore(server.url, nothing)).rejects.toThrow(said)
  await pg.query('drop table store_identity.current')
  await expect(onStore(server.url, nothing)).rejects.toThrow(said)
  await onStore(null, nothing)
})

it('an unused database accepts any store, and data tied to positions is deleted', async () => {
  const [one, two] = [await startServer(), await startServer()]
  await pg.query(`create schema projections;
    create table projections.checkpoint (name text, position int8);
    insert into projections.checkpoint values ('users', 700)`)
  const places = async () => (await pg.query('select from projections.checkpoint')).rowCount
  const checkpoint = await openCheckpoint(pg, 'somebody')
  await checkpoint.save(700)
  await keepSnapshot()
  await onStore(null, nothing)
  expect([await hasSnapshot(), await places(), await checkpoint.read()]).toEqual([true, 1, 700])
  await onStore(one.url, nothing)
  expect([await hasSnapshot(), await places(), await checkpoint.read()]).toEqual([false, 0, null])
  await onStore(null, nothing)
  await onStore(two.url, async (store) => void (await store.append([to('a', 'none')])))
  await expect(onStore(one.url, nothing)).rejects.toThrow('EVENTSTORE_URL: ')
  // A new database may be used with an existing history.
  const other = await testDatabase()
  onTestFinished(() => other.drop())
  const its = openPool(other.url)
  const store = await openEventStore({ url: two.url, database: other.url, pg: its, log })
  expect(await store.readAll(0, 10)).toHaveLength(1)
  await store.close()
  await its.end()
})

it('a server that does not answer stops the start and names the variable', async () => {
  const url = 'esdb://127.0.0.1:9?tls=false'
  await expect(openEventStore({ url, database: database.url, pg, log })).rejects.toThrow(
    'EVENTSTORE_URL: names a server that does not answer',
  )
})

it('the name of a store contains its hosts in any order, and no password', () => {
  const name = eventStoreName('esdb+discover://admin:secret@B:2113,a:2113/?tls=true')
  expect(name).toBe('eventstoredb a:2113,b:2113')
  expect(eventStoreName(null)).toBe('postgres')
})
