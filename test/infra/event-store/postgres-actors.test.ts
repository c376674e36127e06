import { Pool } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EventStore } from '#infra/event-store/port.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { createPostgresSnapshots, type Snapshots } from '#infra/event-store/snapshots.ts'
import { createStreamActors } from '#infra/event-store/stream-actors.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { add, context, counterDecider } from './counter-decider.ts'

const log = pino({ level: 'silent' })
let database: Awaited<ReturnType<typeof testDatabase>>
let pg: Pool
let stores: EventStore[]
let snapshots: Snapshots

beforeAll(async () => {
  database = await testDatabase()
  pg = new Pool({ connectionString: database.url })
  snapshots = await createPostgresSnapshots(pg)
  const open = () => createPostgresEventStore({ connectionString: database.url, log })
  stores = await Promise.all([open(), open()])
})
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await pg.end()
  await database.drop()
})

const actors = () =>
  stores.map((store) => createStreamActors({ store, snapshots, log, snapshotEvery: 50 }))

it('five hundred commands from two processes keep the bound of one stream, and end', async () => {
  const both = actors()
  const decider = counterDecider(400)
  const begin = performance.now()
  const outcomes = await Promise.all(
    Array.from({ length: 250 }, () =>
      both.map((here) => here.handle(decider, 'hot', add(), context)),
    ).flat(),
  )
  expect(outcomes.filter(({ isDone }) => isDone)).toHaveLength(400)
  expect(await stores[0]?.readStream('hot')).toHaveLength(400)
  expect(performance.now() - begin).toBeLessThan(10_000)
})

it('two processes that never pause both make progress', async () => {
  const both = actors()
  const decider = counterDecider(1_000)
  const done = both.map(() => 0)
  const callers = both.flatMap((here, process) =>
    Array.from({ length: 10 }, async () => {
      for (let i = 0; i < 20; i += 1) {
        await here.handle(decider, 'busy', add(), context)
        done[process] = (done[process] ?? 0) + 1
      }
    }),
  )
  await Promise.all(callers)
  expect(done).toEqual([200, 200])
  expect(await stores[1]?.readStream('busy')).toHaveLength(400)
})

it('three processes can start at once on an empty database, and stop at once', async () => {
  for (let round = 0; round < 5; round += 1) {
    const empty = await testDatabase()
    const open = () => createPostgresEventStore({ connectionString: empty.url, log })
    const opened = await Promise.all([open(), open(), open()])
    await Promise.all(opened.map((store) => store.close()))
    await empty.drop()
  }
})

it('a snapshot is kept in the database, and an older one never replaces it', async () => {
  const decider = counterDecider(1_000)
  const [here] = actors()
  for (let i = 0; i < 60; i += 1) await here?.handle(decider, 'long', add(), context)
  await expect.poll(async () => (await snapshots.load('long'))?.revision).toBe(49)
  await snapshots.save('long', { version: 1, revision: 10, position: 1, state: {} })
  expect(await snapshots.load('long')).toMatchObject({ revision: 49, state: { total: 50 } })
  const [, there] = actors()
  expect((await there?.stateOf(decider, 'long'))?.total).toBe(60)
})
