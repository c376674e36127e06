import { Pool } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openEventStore } from '#infra/event-store/open-event-store.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { createPostgresSnapshots, type Snapshots } from '#infra/event-store/snapshots.ts'
import { eventStoreName } from '#infra/event-store/store-identity.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { testDatabase } from '#test/support/postgres.ts'
import { to } from './conformance.ts'

const log = pino({ level: 'silent' })
let database: Awaited<ReturnType<typeof testDatabase>>
let pg: Pool
let snapshots: Snapshots

beforeAll(async () => {
  database = await testDatabase()
  pg = new Pool({ connectionString: database.url })
  snapshots = await createPostgresSnapshots(pg)
})
afterAll(async () => {
  await pg.end()
  await database.drop()
})

/** Starts on a store, does what is asked, and stops again. */
async function onStore(url: string | null, work: (store: EventStore) => Promise<void>) {
  const store = await openEventStore({ url, database: database.url, pg, log })
  await work(store).finally(() => store.close())
}

const keepSnapshot = () =>
  snapshots.save('a', { version: 1, revision: 0, position: 1, state: { n: 1 } })
const hasSnapshot = async () => (await snapshots.load('a')) !== null

async function startServer() {
  const server = await startEventStoreDbServer()
  onTestFinished(() => server.stop())
  return server
}

it('what belongs to positions of one store is dropped where another one is used', async () => {
  const [one, two] = [await startServer(), await startServer()]
  await keepSnapshot()
  await onStore(null, async () => {})
  expect(await hasSnapshot()).toBe(true)
  // Empty stores are known by their name, the others by their first event.
  await onStore(one.url, async (store) => {
    expect(await hasSnapshot()).toBe(false)
    await keepSnapshot()
    await store.append([to('a', 'none')])
  })
  await onStore(one.url, async () => expect(await hasSnapshot()).toBe(true))
  await onStore(`${one.url}&connectionName=other`, async (store) => {
    expect(await hasSnapshot()).toBe(true)
    await store.append([to('a', 0)])
  })
  await onStore(two.url, async () => expect(await hasSnapshot()).toBe(false))
  await keepSnapshot()
  await onStore(null, async () => expect(await hasSnapshot()).toBe(false))
})

it('the places of the read models are dropped with it, so that they are made anew', async () => {
  const server = await startServer()
  await pg.query(`create schema projections;
    create table projections.checkpoint (name text, position int8);
    insert into projections.checkpoint values ('users', 700)`)
  const count = async () => (await pg.query('select from projections.checkpoint')).rowCount
  await onStore(null, async () => {})
  expect(await count()).toBe(1)
  await onStore(server.url, async () => {})
  expect(await count()).toBe(0)
})

it('a server that does not answer stops the start and names the variable', async () => {
  const url = 'esdb://127.0.0.1:9?tls=false'
  await expect(openEventStore({ url, database: database.url, pg, log })).rejects.toThrow(
    'EVENTSTORE_URL: names a server that does not answer',
  )
})

it('the name of a store holds its hosts in any order, and no password', () => {
  const name = eventStoreName('esdb+discover://admin:secret@B:2113,a:2113/?tls=true')
  expect(name).toBe('eventstoredb a:2113,b:2113')
  expect(eventStoreName(null)).toBe('postgres')
})
