import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import type { EventStore, NewEvent } from '#infra/event-store/port.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { processesOf } from '#infra/postgres/orphaned-servers.ts'

/**
 * Measures durable appends of 1 KB events. Prints events per second, CPU µs per event of this
 * process and of Postgres, and events per commit.
 * Parameter: seconds per row (3).
 */
const SECONDS = Number(process.argv[2] ?? 3)
const STREAMS_EACH = 10
const TICKS_PER_SECOND = 100
const padding = 'x'.repeat(700)

const newEvent = (): NewEvent => ({
  id: randomUUID(),
  type: 'CallSettled',
  v: 1,
  data: { call: randomUUID(), userId: 7, tokenId: 9, model: 'gpt-4o-mini', charge: 4_567, padding },
  meta: { actor: 'token:9', cause: 'request', at: Date.now() },
})

function cpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const file = `/proc/${pid}/stat`
    // The process may have ended.
    const stat = existsSync(file) ? readFileSync(file, 'latin1') : ''
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND
  }, 0)
}

type Load = { readonly appenders: number; readonly perAppend: number; readonly readers: number }

async function measure(store: EventStore, url: string, clusterName: string, load: Load) {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const latencies: number[] = []
  const head = await store.headPosition()
  const tails = Array.from({ length: load.readers }, () =>
    store.subscribeAll(
      head,
      () => {},
      () => {},
    ),
  )
  const pids = await processesOf(clusterName)
  const [own, server, begin] = [process.cpuUsage(), cpuSeconds(pids), performance.now()]
  const end = begin + SECONDS * 1_000
  const appender = async (): Promise<void> => {
    const append = createAppender(store)
    while (performance.now() < end) {
      const start = performance.now()
      await append(Array.from({ length: load.perAppend }, newEvent))
      latencies.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: load.appenders }, appender))
  const seconds = (performance.now() - begin) / 1_000
  const used = process.cpuUsage(own)
  const serverUsed = cpuSeconds(pids) - server
  await Promise.all(tails.map((tail) => tail.stop()))
  const events = latencies.length * load.perAppend
  // `xmin` is the transaction id of the row's commit.
  const { rows } = await client.query<{ n: number }>(
    'select count(distinct xmin::text)::int n from event_store.events where position > $1',
    [head],
  )
  const perCommit = events / (rows[0]?.n ?? 1)
  await client.end()
  latencies.sort((a, b) => a - b)
  report(load, { events, seconds, perCommit, latencies, own: used.user + used.system, serverUsed })
}

/** Appends at the exact revision, like stream actors. No other appender writes to its streams. */
function createAppender(store: EventStore) {
  const streams = Array.from({ length: STREAMS_EACH }, () => ({
    stream: `account-${randomUUID()}`,
    revision: -1,
  }))
  let turn = 0
  return async (events: NewEvent[]): Promise<void> => {
    turn += 1
    const own = streams[turn % STREAMS_EACH]
    if (own === undefined) throw new Error('no stream')
    const expected = own.revision < 0 ? 'none' : own.revision
    await store.append([{ stream: own.stream, expected, events }])
    own.revision += events.length
  }
}

type Figures = {
  readonly events: number
  readonly seconds: number
  readonly perCommit: number
  readonly latencies: readonly number[]
  /** The CPU µs of this process. */
  readonly own: number
  readonly serverUsed: number
}

function report(load: Load, figures: Figures): void {
  const { events, seconds, perCommit, latencies, own, serverUsed } = figures
  const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1)
  const cells = [
    load.appenders,
    load.perAppend,
    load.readers,
    Math.round(events / seconds),
    perCommit.toFixed(1),
    (own / events).toFixed(1),
    ((serverUsed * 1e6) / events).toFixed(1),
    `${at(0.5)} / ${at(0.99)}`,
  ]
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}

const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-bench-'))
const log = pino({ level: 'warn' })
const embedded = await startEmbeddedPostgres({ dataDir, log })
const { name } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8'))
const store = await createPostgresEventStore({ connectionString: embedded.connectionString, log })
await createAppender(store)([newEvent()])
process.stdout.write(
  '| appenders | events each | readers | events/s | events per commit | Node µs | Postgres µs |' +
    ' p50 / p99 ms |\n|---|---|---|---|---|---|---|---|\n',
)
try {
  for (const load of [
    { appenders: 1, perAppend: 1, readers: 0 },
    { appenders: 25, perAppend: 1, readers: 0 },
    { appenders: 50, perAppend: 1, readers: 0 },
    { appenders: 500, perAppend: 1, readers: 0 },
    { appenders: 50, perAppend: 1, readers: 3 },
    { appenders: 500, perAppend: 1, readers: 3 },
  ]) {
    await measure(store, embedded.connectionString, name, load)
  }
} finally {
  await store.close()
  await embedded.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
