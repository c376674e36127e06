import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Pool } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/memory-locks.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded.ts'
import {
  type EventStoreDbServer,
  startEventStoreDbServer,
} from '#test/support/event-store-db/server.ts'
import { testDatabase } from '#test/support/postgres.ts'
import { newEvent, to } from './conformance.ts'

const PROGRAM = fileURLToPath(
  new URL('../../../infra/event-store/eventstoredb/copy-program.ts', import.meta.url),
)
const log = pino({ level: 'silent' })
let database: Awaited<ReturnType<typeof testDatabase>>
let source: EventStore

beforeAll(async () => {
  database = await testDatabase()
  source = await createPostgresEventStore({ connectionString: database.url, log })
  await writeHistory(source)
})
afterAll(async () => {
  await source.close()
  await database.drop()
})

/** Short and long runs of one stream, joint appends, and data that is easily changed on the way. */
async function writeHistory(store: EventStore): Promise<void> {
  const odd = { 10: 1, z: 'NUL \0 half \ud800 中 🧾 \u2028', a: [1e300, -0.1, 5e-324, null] }
  for (let i = 0; i < 120; i += 1) {
    await store.append([
      to(
        `account-${i % 7}`,
        'any',
        Array.from({ length: 1 + (i % 5) }, () => newEvent(odd)),
      ),
      to(`user-${i}`, 'none', [{ ...newEvent({ i }), v: 1 + (i % 3) }]),
    ])
  }
  await store.append([
    to(
      'long',
      'none',
      Array.from({ length: 500 }, (_, n) => newEvent({ n, x: 'é'.repeat(200) })),
    ),
  ])
}

function startCopy(
  { url }: Pick<EventStoreDbServer, 'url'>,
  from: Record<string, string> = { DATABASE_URL: database.url },
) {
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: tmpdir(),
    env: {
      ...{
        PATH: process.env.PATH,
        LOG_LEVEL: 'silent',
        SECRET_KEY: randomBytes(32).toString('base64'),
      },
      ...{ ...from, EVENTSTORE_URL: url },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (text) => (said += text))
  const exited = once(child, 'exit').then(([code]) => ({ code, said }))
  return { child, exited }
}

async function startTarget(): Promise<EventStoreDbServer> {
  const server = await startEventStoreDbServer()
  onTestFinished(() => server.stop())
  return server
}

const eventsOf = (store: EventStore) =>
  store.readAll(0, 10_000).then((events) => events.map(({ position, ...event }) => event))

it('a history killed on its way three times arrives whole, in order, byte by byte', async () => {
  const server = await startTarget()
  server.slowDown(2)
  for (const size of [30, 100, 200]) {
    const { child, exited } = startCopy(server)
    await expect.poll(() => server.log.all().length, { interval: 5 }).toBeGreaterThan(size)
    child.kill('SIGKILL')
    await exited
  }
  server.slowDown(0)
  const { code, said } = await startCopy(server).exited
  expect(said).toBe('980 events in 128 streams: the same\n')
  expect(code).toBe(0)
  const store = await createEventStoreDbStore({ url: server.url, locks: createMemoryLocks(), log })
  expect(await eventsOf(store)).toEqual(await eventsOf(source))
  await store.close()
  const pg = new Pool({ connectionString: database.url })
  const { rows } = await pg.query<{ id: string; data: string }>(
    'select id, data from event_store.events',
  )
  const copied = new Map(server.log.all().map(({ id, data }) => [id, Buffer.from(data).toString()]))
  expect(rows.filter(({ id, data }) => copied.get(id) !== data)).toEqual([])
  await pg.end()
  // A second time there is nothing to do.
  const before = server.log.all().length
  expect(await startCopy(server).exited).toEqual({ code: 0, said })
  expect(server.log.all()).toHaveLength(before)
})

it('a target with another history is refused, and left as it is', async () => {
  const server = await startTarget()
  const store = await createEventStoreDbStore({ url: server.url, locks: createMemoryLocks(), log })
  await store.append([to('account-0', 'none')])
  await store.close()
  const { code, said } = await startCopy(server).exited
  expect(code).toBe(1)
  expect(said).toBe('EVENTSTORE_URL: holds events of another history, as in stream account-0\n')
  expect(server.log.all().filter(({ stream }) => !stream.startsWith('$'))).toHaveLength(1)
})

it('what differs at the end is named, and the program fails', async () => {
  const server = await startTarget()
  expect((await startCopy(server).exited).code).toBe(0)
  const long = server.log.stream('long')
  const [last] = long.slice(-1)
  if (last !== undefined) Object.assign(last, { data: Buffer.from('{"n":499,"x":""}') })
  const { code, said } = await startCopy(server).exited
  expect(said).toBe('different: long\n980 events in 128 streams: NOT the same\n')
  expect(code).toBe(1)
})

it('the embedded database is opened, copied and closed again', async () => {
  const server = await startTarget()
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-copy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const from = { DATA_DIR: join(folder, 'data') }
  const empty = 'DATABASE_URL, DATA_DIR: there is no history in this database\n'
  expect(await startCopy(server, from).exited).toEqual({ code: 1, said: empty })
  const embedded = await startEmbeddedPostgres({ dataDir: from.DATA_DIR, log })
  const { connectionString } = embedded
  const store = await createPostgresEventStore({ connectionString, log })
  await store.append([to('a', 'none'), to('b', 'none')])
  await store.close()
  await embedded.stop()
  const same = '2 events in 2 streams: the same\n'
  expect(await startCopy(server, from).exited).toEqual({ code: 0, said: same })
})

it('a target that does not answer is named', async () => {
  const said = 'EVENTSTORE_URL: the event store could not be read\n'
  const nowhere = { url: 'esdb://127.0.0.1:9?tls=false' }
  expect(await startCopy(nowhere).exited).toEqual({ code: 1, said })
})
