import { Pool } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EventStore } from '#infra/event-store/port.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import {
  createPostgresSnapshots,
  findChangedSnapshots,
  type Snapshots,
} from '#infra/event-store/snapshots.ts'
import { createStreamActors } from '#infra/event-store/stream-actors.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { add, context, counterDecider } from './counter-decider.ts'

const log = pino({ level: 'silent' })
const keyedHash = (purpose: string, text: string) => `${purpose} ${text}`
let database: Awaited<ReturnType<typeof testDatabase>>
let pg: Pool
let stores: EventStore[]
let snapshots: Snapshots

beforeAll(async () => {
  database = await testDatabase()
  pg = new Pool({ connectionString: database.url })
  snapshots = await createPostgresSnapshots({ pg, vault: { keyedHash }, log })
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

it('a snapshot that was changed in the database is not used, and is deleted', async () => {
  const changes = ['state = \'{"total":-400}\'', 'revision = revision + 1', "mac = ''"]
  for (const [at, change] of changes.entries()) {
    const stream = `changed-${at}`
    await snapshots.save(stream, { version: 1, revision: 3, position: 9, state: { total: 4 } })
    expect(await snapshots.load(stream)).toMatchObject({ state: { total: 4 } })
    await pg.query(`update snapshots.states set ${change} where stream = $1`, [stream])
    expect(await snapshots.load(stream)).toBeNull()
    await snapshots.save(stream, { version: 1, revision: 2, position: 8, state: { total: 3 } })
    expect(await snapshots.load(stream)).toMatchObject({ revision: 2 })
  }
})

it('a snapshot of one stream is not used for another', async () => {
  await snapshots.save('rich', { version: 1, revision: 3, position: 9, state: { total: 4 } })
  await pg.query("update snapshots.states set stream = 'poor' where stream = 'rich'")
  expect(await snapshots.load('poor')).toBeNull()
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

it('a large snapshot is not compressed, also in the table of an earlier release', async () => {
  await pg.query('alter table snapshots.states alter column state set storage extended')
  const upgraded = await createPostgresSnapshots({ pg, vault: { keyedHash }, log })
  const state = { ids: 'abc'.repeat(30_000) }
  await upgraded.save('large', { version: 1, revision: 1, position: 1, state })
  const { rows } = await pg.query(
    "select pg_column_size(state) as bytes from snapshots.states where stream = 'large'",
  )
  expect(rows).toEqual([{ bytes: JSON.stringify(state).length }])
  expect(await upgraded.load('large')).toMatchObject({ state })
})

it('a snapshot without a MAC is named as changed, except one of an earlier release', async () => {
  const vault = { keyedHash }
  const namedStreams = async () => {
    const named: string[] = []
    for await (const { changed } of findChangedSnapshots({ pg, vault })) named.push(...changed)
    return named
  }
  await snapshots.save('old', { version: 1, revision: 3, position: 9, state: { total: 4 } })
  await pg.query('alter table snapshots.states drop column mac')
  const upgraded = await createPostgresSnapshots({ pg, vault, log })
  expect(await namedStreams()).toEqual([])
  expect(await upgraded.load('old')).toBeNull()
  await upgraded.save('new', { version: 1, revision: 3, position: 9, state: { total: 4 } })
  const removal = "update snapshots.states set mac = null where stream = 'new'"
  await expect(pg.query(removal)).rejects.toMatchObject({ code: '23502' })
  await pg.query(`alter table snapshots.states alter column mac drop not null; ${removal}`)
  expect(await namedStreams()).toEqual(['new'])
  expect(await upgraded.load('new')).toBeNull()
  expect(await namedStreams()).toEqual([])
})
