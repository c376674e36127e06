import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { LANE_COUNT } from '#infra/event-bus/lane-of-stream.ts'
import type { NewEvent } from '#infra/event-store/port.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { aCall, admitted, type Given, settledCall } from '../projections/fixture.ts'
import { cpuSeconds } from './pinned-processes.ts'

/**
 * Measures the rebuild of all read models by one process with every lane, and by two processes with
 * half of the lanes each. Prints events per second, and CPU µs per event of the processes and of
 * Postgres. Parameters: events (150000), rounds (2).
 */
const EVENTS = Number(process.argv[2] ?? 150_000)
const ROUNDS = Number(process.argv[3] ?? 2)
const ACCOUNTS = 400
const EVENTS_PER_APPEND = 500

type Outcome = { readonly perSecond: number; readonly nodeUs: number; readonly postgresUs: number }

async function append(url: string): Promise<number> {
  const store = await createPostgresEventStore({ connectionString: url, log: createLog('error') })
  const meta = { actor: 'token:1', cause: null, at: Date.now() }
  const newEvent = ({ type, v, data }: Given): NewEvent => ({
    ...{ id: randomUUID(), type, v, data, meta },
  })
  let calls = 0
  for (let done = 0; done < EVENTS; done += EVENTS_PER_APPEND) {
    const given: Given[] = []
    while (given.length < EVENTS_PER_APPEND) {
      const user = 1 + (calls % ACCOUNTS)
      const call = aCall({ userId: user, tokenId: user, model: `sim-${calls % 7}` })
      given.push(admitted(call), settledCall(call, 100 + user, undefined, 1 + (calls % 5)))
      calls += 1
    }
    const streams = Map.groupBy(given, ({ stream }) => stream)
    await store.append(
      [...streams].map(([stream, facts]) => ({
        ...{ stream, expected: 'any' as const },
        events: facts.map(newEvent),
      })),
    )
  }
  const head = await store.headPosition()
  await store.close()
  return head
}

async function fold(url: string, postgresPid: number, count: number): Promise<Outcome> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ nspname: string }>(
    `select nspname from pg_namespace where nspname ~ '^(read_|projections$|leases$)'`,
  )
  for (const { nspname } of rows) await client.query(`drop schema ${nspname} cascade`)
  const children = await startChildren(url, count)
  const pids = children.map(({ pid }) => pid ?? 0)
  const cpu = () => ({
    node: pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    postgres: cpuSeconds(postgresPid),
  })
  const [before, begin] = [cpu(), performance.now()]
  for (const child of children) child.send('go')
  for (let isThere = false; !isThere; await delay(10)) {
    const { rows: found } = await client.query<{ is_there: boolean }>(
      `select min(c.position) >= (select position from event_store.head) as is_there
       from projections.checkpoint c`,
    )
    isThere = found[0]?.is_there === true
  }
  const seconds = (performance.now() - begin) / 1_000
  const after = cpu()
  for (const child of children) child.kill('SIGKILL')
  await client.end()
  const perEvent = (part: 'node' | 'postgres') => ((after[part] - before[part]) * 1e6) / EVENTS
  return { perSecond: EVENTS / seconds, nodeUs: perEvent('node'), postgresUs: perEvent('postgres') }
}

async function startChildren(url: string, count: number): Promise<ChildProcess[]> {
  const share = LANE_COUNT / count
  const children = Array.from({ length: count }, () =>
    fork('test/bench/projector-process.ts', [String(share)], {
      env: { ...process.env, DATABASE_URL: url, SECRET_KEY: secretKey, LOG_LEVEL: 'error' },
    }),
  )
  for (const child of children) process.once('exit', () => child.kill('SIGKILL'))
  await Promise.all(
    children.map((child) => new Promise((divided) => child.once('message', divided))),
  )
  return children
}

const secretKey = randomBytes(32).toString('base64')
const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir, log: createLog('error') })
const best = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((one, other) => (other.perSecond > one.perSecond ? other : one))
try {
  await append(postgres.connectionString)
  const one: Outcome[] = []
  const two: Outcome[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    one.push(await fold(postgres.connectionString, postgres.pid, 1))
    two.push(await fold(postgres.connectionString, postgres.pid, 2))
  }
  process.stdout.write(
    `### all read models from zero, ${EVENTS} events, best of ${ROUNDS}\n\n` +
      '| processes | lanes each | events/s | Node µs/event | Postgres µs/event |\n' +
      '|---|---|---|---|---|\n',
  )
  for (const [count, outcomes] of [
    [1, one],
    [2, two],
  ] as const) {
    const { perSecond, nodeUs, postgresUs } = best(outcomes)
    const cells = [count, LANE_COUNT / count, perSecond.toFixed(0), nodeUs.toFixed(1)]
    process.stdout.write(`| ${[...cells, postgresUs.toFixed(1)].join(' | ')} |\n`)
  }
  const ratio = best(two).perSecond / best(one).perSecond
  process.stdout.write(`\ntwo processes: ${ratio.toFixed(2)} × one\n`)
} finally {
  await postgres.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
