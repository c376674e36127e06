import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Pool } from 'pg'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { copyHistory } from '#infra/event-store/eventstoredb/copy-history.ts'
import { runCopyProgram } from '#infra/event-store/eventstoredb/copy-program.ts'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import { openEventStore } from '#infra/event-store/open-event-store.ts'
import { type EventStore, StoreUnavailable } from '#infra/event-store/port.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { eventStoreName } from '#infra/event-store/store-identity.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import {
  type EventStoreDbServer,
  startEventStoreDbServer,
} from '#test/support/event-store-db/server.ts'
import { printedBy } from '#test/support/printed-by.ts'
import { treeOf } from '#test/support/process-tree.ts'
import { testDatabase } from '#test/support/test-database.ts'
import { newEvent, to } from './conformance.ts'

const PROGRAM = fileURLToPath(
  new URL('../../../infra/event-store/eventstoredb/copy-program.ts', import.meta.url),
)
const log = pino({ level: 'silent' })
let database: Awaited<ReturnType<typeof testDatabase>>
/** The events of the source when no process uses it. */
let history: Awaited<ReturnType<typeof eventsOf>>
/** The pools of a test. They are closed before the database is dropped. */
let pools: Pool[] = []

const openPool = (): Pool => {
  const pg = new Pool({ connectionString: database.url })
  // A connection that is closing while the database is dropped may emit an error.
  pg.on('error', () => {})
  pools.push(pg)
  return pg
}

beforeEach(async () => {
  database = await testDatabase()
  await onSource(async (source) => {
    await writeHistory(source)
    history = await eventsOf(source)
  })
})
afterEach(async () => {
  await Promise.all(pools.map((pg) => pg.end()))
  pools = []
  await database.drop()
})

/** Runs `work` with an event store on the source, and closes the store afterwards. */
async function onSource(work: (source: EventStore) => Promise<void>): Promise<void> {
  // Some operators set an application name in their URL.
  const connectionString = `${database.url}?application_name=mine`
  const source = await createPostgresEventStore({ connectionString, log })
  await work(source).finally(() => source.close())
}

/**
 * Writes a history with short and long runs of one stream, joint appends, and data that an inexact
 * copy would change.
 */
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

type Target = Pick<EventStoreDbServer, 'url'>
type Variables = Readonly<Record<string, string>>

const copyEnvironment = ({ url }: Target, from: Variables, more: Variables) => ({
  ...{ PATH: process.env.PATH, LOG_LEVEL: 'silent' },
  SECRET_KEY: randomBytes(32).toString('base64'),
  ...{ ...from, ...more, EVENTSTORE_URL: url },
})

/** Starts the program as a process, which a test can kill. */
function startCopy(target: Target, from: Variables = { DATABASE_URL: database.url }) {
  const { NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: tmpdir(),
    env: { ...copyEnvironment(target, from, {}), NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (text) => (said += text))
  const exited = once(child, 'exit').then(([code]) => ({ code, said }))
  return { child, exited }
}

/** Runs the program to its end in this process. */
async function copy(
  target: Target,
  from: Variables = { DATABASE_URL: database.url },
  more: Variables = {},
) {
  const { signal } = new AbortController()
  const environment = copyEnvironment(target, from, more)
  const { status, output, errors } = await printedBy(() => runCopyProgram(environment, signal))
  return { code: status, said: output + errors }
}

async function startTarget(): Promise<EventStoreDbServer> {
  const server = await startEventStoreDbServer()
  onTestFinished(() => server.stop())
  return server
}

const eventsOf = (store: EventStore) =>
  store.readAll(0, 10_000).then((events) => events.map(({ position, ...event }) => event))

it('a copy that is killed three times arrives complete, in order, byte by byte', async () => {
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
  expect(await eventsOf(store)).toEqual(history)
  await store.close()
  const pg = openPool()
  const { rows } = await pg.query<{ id: string; data: string }>(
    'select id, data from event_store.events',
  )
  const copied = new Map(server.log.all().map(({ id, data }) => [id, Buffer.from(data).toString()]))
  expect(rows.filter(({ id, data }) => copied.get(id) !== data)).toEqual([])
})

it('a copied database belongs to the target, and Postgres takes no more events', async () => {
  const [server, other] = [await startTarget(), await startTarget()]
  expect((await copy(server)).code).toBe(0)
  const pg = openPool()
  const host = new URL(server.url.replace('esdb', 'http')).host
  await expect(openEventStore({ url: null, database: database.url, pg, log })).rejects.toThrow(
    `EVENT_STORE: this database's history is in EventStoreDB at ${host}: `,
  )
  // A process that was started before the move can't append either.
  const late = await createPostgresEventStore({
    ...{ connectionString: database.url, log, deadlineMs: 500 },
  })
  await expect(late.append([to('late', 'none')])).rejects.toThrow(StoreUnavailable)
  await late.close()
  const store = await openEventStore({ url: server.url, database: database.url, pg, log })
  await store.append([to('new', 'none')])
  await store.close()
  // A second copy to the same target does nothing, and a copy to another target is refused.
  const before = server.log.all().length
  const said = `the history has already been moved to eventstoredb ${host}\n`
  expect(await copy(server)).toEqual({ code: 0, said })
  expect(server.log.all()).toHaveLength(before)
  const refused = `EVENTSTORE_URL: ${said}`
  expect(await copy(other)).toEqual({ code: 1, said: refused })
  expect(other.log.all().filter(({ stream }) => !stream.startsWith('$'))).toEqual([])
})

it('when two copies to two targets run at once, only one moves the database', async () => {
  const [server, other] = [await startTarget(), await startTarget()]
  const pg = openPool()
  const writer = await pg.connect()
  await writer.query('begin; lock table event_store.head in share row exclusive mode')
  // Each copy waits for the lock before the next copy starts, so the order is fixed.
  const copies: ReturnType<typeof startCopy>[] = []
  for (const target of [server, other, server]) {
    copies.push(startCopy(target))
    await expect.poll(() => waitingForHead(pg)).toBe(copies.length)
  }
  await writer.query('commit')
  writer.release()
  const waited = 'waiting for exclusive access to the database\n'
  const went = `the history has already been moved to ${eventStoreName(server.url)}\n`
  expect(await Promise.all(copies.map(({ exited }) => exited))).toEqual([
    { code: 0, said: `${waited}980 events in 128 streams: the same\n` },
    { code: 1, said: `${waited}EVENTSTORE_URL: ${went}` },
    { code: 0, said: `${waited}${went}` },
  ])
  const { rows } = await pg.query('select name from store_identity.current')
  expect(rows).toEqual([{ name: eventStoreName(server.url) }])
  expect(other.log.all().filter(({ stream }) => !stream.startsWith('$'))).toEqual([])
})

async function waitingForHead(pg: Pool): Promise<number | null> {
  const { rowCount } = await pg.query(
    `select from pg_locks where not granted and relation = 'event_store.head'::regclass`,
  )
  return rowCount
}

const IN_USE = 'DATABASE_URL: is still in use by processes of Tallygate: '
const sessions = async (pg: Pool): Promise<number | null> =>
  (
    await pg.query(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'tallygate-append'`,
    )
  ).rowCount

it('a source that processes still use is refused, unless the copy is forced', async () => {
  const server = await startTarget()
  const pg = openPool()
  const from = { DATABASE_URL: database.url }
  await onSource((one) =>
    onSource(async () => {
      await one.append([to('written', 'none')])
      await expect.poll(() => sessions(pg)).toBe(2)
      const { code, said } = await copy(server, from)
      expect([code, said]).toEqual([1, expect.stringContaining(`${IN_USE}2, from 127.0.0.1. Stop`)])
      expect(server.log.all().filter(({ stream }) => !stream.startsWith('$'))).toEqual([])
      await one.append([to('goes on', 'none')])
      const odd = await copy(server, from, { ES_COPY_FORCE: 'yes' })
      expect(odd).toEqual({ code: 1, said: 'ES_COPY_FORCE: must be true, not "yes"\n' })
      const forced = await copy(server, from, { ES_COPY_FORCE: 'true' })
      expect(forced).toEqual({ code: 0, said: '982 events in 130 streams: the same\n' })
    }),
  )
})

it('a process that reconnects during the copy is detected', async () => {
  const server = await startTarget()
  server.slowDown(20)
  const { exited } = startCopy(server)
  await expect.poll(() => server.log.all().length, { interval: 5 }).toBeGreaterThan(30)
  const back = new Client({ connectionString: database.url, application_name: 'tallygate-append' })
  await back.connect()
  server.slowDown(0)
  const { code, said } = await exited
  await back.end()
  expect([code, said]).toEqual([1, expect.stringContaining(`${IN_USE}1, from 127.0.0.1. Stop`)])
  await onSource(async (source) => void (await source.append([to('later', 'none')])))
})

it('a database that was never used is refused, and accepts events afterwards', async () => {
  const server = await startTarget()
  const unused = await testDatabase()
  onTestFinished(() => unused.drop())
  const store = await createPostgresEventStore({ connectionString: unused.url, log })
  const said = 'DATABASE_URL, DATA_DIR: there is no history in this database\n'
  expect(await copy(server, { DATABASE_URL: unused.url })).toEqual({ code: 1, said })
  await store.append([to('first', 'none')])
  expect(await store.headPosition()).toBe(1)
  await store.close()
})

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s stops the copy and its Postgres, and moves nothing',
  async (signal) => {
    const server = await startTarget()
    const folder = mkdtempSync(join(tmpdir(), 'tallygate-copy-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const dataDir = join(folder, 'data')
    await withEmbedded(dataDir, writeHistory)
    server.slowDown(20)
    const { child, exited } = startCopy(server, { DATA_DIR: dataDir })
    await expect.poll(() => server.log.all().length, { interval: 5 }).toBeGreaterThan(10)
    const all = treeOf(child.pid ?? 0)
    expect(all.length).toBeGreaterThan(1)
    child.kill(signal)
    expect(await exited).toEqual({ code: 1, said: 'stopped\n' })
    await expect.poll(() => all.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([])
    await withEmbedded(dataDir, async (store) => void (await store.append([to('later', 'none')])))
  },
  60_000,
)

async function withEmbedded(dataDir: string, work: (store: EventStore) => Promise<void>) {
  const embedded = await startEmbeddedPostgres({ dataDir, log })
  const store = await createPostgresEventStore({
    connectionString: embedded.connectionString,
    log,
  })
  await work(store)
  await store.close()
  await embedded.stop()
}

it('a target with another history is refused and stays unchanged', async () => {
  const server = await startTarget()
  const store = await createEventStoreDbStore({ url: server.url, locks: createMemoryLocks(), log })
  await store.append([to('account-0', 'none')])
  await store.close()
  const { code, said } = await copy(server)
  expect(code).toBe(1)
  expect(said).toBe(
    'EVENTSTORE_URL: contains events of another history, for example in stream account-0\n',
  )
  expect(server.log.all().filter(({ stream }) => !stream.startsWith('$'))).toHaveLength(1)
})

it('a target that contains only append probes counts as empty', async () => {
  const server = await startTarget()
  const store = await createEventStoreDbStore({ url: server.url, locks: createMemoryLocks(), log })
  const probe = async () => await store.probeAppend?.()
  await probe()
  await expect(copy(server)).resolves.toEqual({
    code: 0,
    said: '980 events in 128 streams: the same\n',
  })
  await probe()
  expect(await eventsOf(store)).toEqual(history)
  await store.close()
  expect(server.log.stream('readiness-probe')).toHaveLength(2)
})

it('differences at the end are named, and the program fails and moves nothing', async () => {
  const server = await startTarget()
  const pg = openPool()
  await copyHistory({ pg, url: server.url, log })
  const long = server.log.stream('long')
  const [last] = long.slice(-1)
  if (last !== undefined) Object.assign(last, { data: Buffer.from('{"n":499,"x":""}') })
  const { code, said } = await copy(server)
  expect(said).toBe('different: long\n980 events in 128 streams: NOT the same\n')
  expect(code).toBe(1)
  await onSource(async (source) => void (await source.append([to('later', 'none')])))
})

it('the embedded database is opened, copied and closed again, and never created', async () => {
  const server = await startTarget()
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-copy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const from = { DATA_DIR: join(folder, 'data') }
  const none = `DATA_DIR: there is no history in ${from.DATA_DIR}\n`
  expect(await copy(server, from)).toEqual({ code: 1, said: none })
  expect(existsSync(from.DATA_DIR)).toBe(false)
  await withEmbedded(from.DATA_DIR, async (store) => {
    await store.append([to('a', 'none'), to('b', 'none')])
  })
  const same = '2 events in 2 streams: the same\n'
  expect(await copy(server, from)).toEqual({ code: 0, said: same })
})

it('an error names the target that does not answer', async () => {
  const said = 'EVENTSTORE_URL: the event store could not be read\n'
  const nowhere = { url: 'esdb://127.0.0.1:9?tls=false' }
  expect(await copy(nowhere)).toEqual({ code: 1, said })
})
