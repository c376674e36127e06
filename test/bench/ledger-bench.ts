import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { accountStream } from '#domain/accounts/events.ts'
import { readConfig } from '#infra/config/read-config.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { startCore } from '#infra/start-core.ts'
import { createLog } from '#infra/telemetry/log.ts'
import {
  figuresBefore,
  type LedgerFilter,
  listMovements,
  rangeOfPeriod,
  sumSite,
  sumsOfPeriod,
} from '#projections/ledger/query.ts'
import { startProjections } from '#projections/runner/start-projections.ts'
import { balanceAt } from '#read-api/audit/balance-at.ts'

/**
 * Measures the queries of the ledger: pages at any depth, figures of any moment, sums of a month,
 * and the balance as of any position of a long history. Prints medians and maxima in ms: of the
 * database (planning and execution, by EXPLAIN ANALYZE of each query) and of this process, which
 * waits for the database and parses rows; and the most blocks of one measurement. Needs about 4 GB
 * of disk, which are freed at the end. Parameters: movements (10000000), of which one account has a
 * half, and events of one account (1000000).
 */
const MOVEMENTS = Number(process.argv[2] ?? 10_000_000)
const EVENTS = Number(process.argv[3] ?? 1_000_000)

const HEAVY = 1_000
const USERS = 2_000
const DAYS = 90
const START = Date.UTC(2026, 0) / 1_000
const FIRST = 10_000_000
const CHUNK = 500_000
const ROUNDS = 50

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

/** $1 and $2 are the first and the last number of the rows. Two of 1 000 are no calls. */
const ROWS = `
  insert into read_ledger.movements
    (user_id, position, revision, created_at, type, source, amount, balance, held, reason, model,
     token_id, channel_id)
  select case when i % 2 = 0 then ${HEAVY} else ${HEAVY} + 1 + (i / 2) % ${USERS} end, ${FIRST} + i,
    i, ${START} + (i * ${(DAYS * 86_400) / MOVEMENTS})::bigint,
    case when i % 1000 < 998 then 'call' else 'grant' end, '01' || md5(i::text), -1,
    -i / 2, 0, 'settled', case when i % 1000 < 998 then 'model-' || i % 20 else '' end,
    i % 50, 1 + i % 10
  from generate_series($1::bigint, $2::bigint) i`

async function fillMovements(pg: Pool): Promise<void> {
  const client = await pg.connect()
  await client.query('set synchronous_commit = off; set maintenance_work_mem = "1GB"')
  const { rows: indexes } = await client.query<{ name: string; sql: string }>(
    `select indexname as name, indexdef as sql from pg_indexes
     where schemaname = 'read_ledger' and tablename = 'movements'
       and indexname <> 'movements_pkey'`,
  )
  for (const { name } of indexes) await client.query(`drop index read_ledger.${name}`)
  for (let from = 1; from <= MOVEMENTS; from += CHUNK) {
    await client.query(ROWS, [from, Math.min(MOVEMENTS, from + CHUNK - 1)])
  }
  for (const { sql } of indexes) await client.query(sql)
  await client.query(`insert into read_ledger.account_days (user_id, day, type, model, count,
      amount)
    select user_id, created_at - created_at % 86400, type, model, count(*), sum(amount)
    from read_ledger.movements group by 1, 2, 3, 4`)
  await client.query(`insert into read_ledger.site_months (month, type, reason, channel_id, model,
      count, amount)
    select extract(epoch from date_trunc('month', to_timestamp(created_at), 'UTC'))::int8, type,
      reason, channel_id, model, count(*), sum(amount)
    from read_ledger.movements group by 1, 2, 3, 4, 5`)
  await client.query('vacuum analyze')
  client.release(true)
}

/** Calls of one account: each holds 40, and is charged 1. */
async function fillEvents({ store }: Core, userId: number): Promise<void> {
  const meta = { actor: 'system', cause: null }
  let balance = EVENTS
  for (let n = 0; n < EVENTS; n += 500) {
    const events = Array.from({ length: Math.min(500, EVENTS - n) }, (_, i) => {
      const isAdmission = i % 2 === 0
      balance += isAdmission ? -40 : 39
      const call = `call-${n + i - (i % 2)}`
      const postings = isAdmission
        ? [
            [`user:${userId}:main`, -40],
            [`user:${userId}:held`, 40],
          ]
        : [
            [`user:${userId}:held`, -40],
            ['revenue', 1],
            [`user:${userId}:main`, 39],
          ]
      const figures = { balanceAfter: balance, heldAfter: isAdmission ? 40 : 0 }
      return {
        ...{ id: crypto.randomUUID(), type: isAdmission ? 'CallAdmitted' : 'CallSettled', v: 1 },
        data: { call, userId, postings, ...figures },
        meta: { ...meta, at: (START + n + i) * 1_000 },
      }
    })
    await store.append([{ stream: accountStream(userId), expected: 'any', events }])
  }
}

/** The time and the blocks that the queries of one measurement needed in the database. */
type DatabaseCost = { ms: number; blocks: number }

/** Returns a database that explains each query before it runs it, and adds up what they need. */
function explaining<Db extends object>(db: Db, pg: Queries, cost: DatabaseCost): Db {
  return new Proxy(db, {
    get(target, name, receiver) {
      const method = Reflect.get(target, name, receiver)
      if (typeof method !== 'function') return method
      if (name === 'transaction') {
        return (work: (snapshot: object) => unknown) =>
          method.call(target, (snapshot: object) => work(explaining(snapshot, pg, cost)))
      }
      return async (query: { readonly sql: string; readonly values: readonly unknown[] }) => {
        if (/^\s*select/.test(query.sql)) await explain(pg, query, cost)
        return method.call(target, query)
      }
    },
  })
}

type Queries = Pick<Pool, 'query'>
type Plan = { readonly [key: string]: number }
type Explained = Plan & { readonly Plan: Plan }

async function explain(
  pg: Queries,
  { sql, values }: { readonly sql: string; readonly values: readonly unknown[] },
  cost: DatabaseCost,
): Promise<void> {
  const { rows } = await pg.query<{ 'QUERY PLAN': [Explained] }>(
    `explain (analyze, buffers, timing off, format json) ${sql.replaceAll('$slonik_', '$')}`,
    [...values],
  )
  const [plan] = rows[0]?.['QUERY PLAN'] ?? []
  cost.ms += (plan?.['Planning Time'] ?? 0) + (plan?.['Execution Time'] ?? 0)
  const { 'Shared Hit Blocks': hit = 0, 'Shared Read Blocks': read = 0 } = plan?.Plan ?? {}
  cost.blocks += hit + read
}

type Measured = (db: Core['db'], share: number) => Promise<unknown>

async function figure({ db, pg }: Core, name: string, work: Measured): Promise<void> {
  const [client, database, blocks]: number[][] = [[], [], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    const share = ((round * 37) % ROUNDS) / ROUNDS
    const cost: DatabaseCost = { ms: 0, blocks: 0 }
    // The first run reads what is not in memory yet, so that the database is measured cold.
    await work(explaining(db, pg, cost), share)
    const begin = performance.now()
    await work(db, share)
    client?.push(performance.now() - begin)
    database?.push(cost.ms)
    blocks?.push(cost.blocks)
  }
  const cells = [...ends(database), ...ends(client)].map((ms) => ms.toFixed(1))
  print(`| ${[name, ...cells, Math.max(...(blocks ?? []))].join(' | ')} |`)
}

/** The median and the maximum. */
function ends(times: readonly number[] = []): number[] {
  const sorted = times.toSorted((a, b) => a - b)
  return [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0]
}

async function measure(core: Core): Promise<void> {
  const { store } = core
  const at = (share: number) => FIRST + Math.round(MOVEMENTS * share) + 1
  const time = (share: number) => START + Math.round(DAYS * 86_400 * share)
  const month = { from: START, to: START + 31 * 86_400 }
  const page =
    (part: Partial<LedgerFilter> = {}): Measured =>
    (db, share) => {
      const filter = { userId: HEAVY, after: 0, before: at(1 - share), types: [], ...part }
      return listMovements(db, filter, 101)
    }
  print(`${MOVEMENTS} movements, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}\n`)
  print('| query | database: median | most | client: median | most | blocks |')
  print('|---|---|---|---|---|---|')
  await figure(core, 'page of 100, any depth', page())
  await figure(core, 'page of 100 grants', page({ types: ['grant'] }))
  await figure(core, 'page of a type without rows', page({ types: ['refund'] }))
  await figure(core, 'page of a small account', page({ userId: HEAVY + 7 }))
  await figure(core, 'figures at any position', (db, share) => figuresBefore(db, HEAVY, at(share)))
  await figure(core, 'ends of a period of a day', (db, share) =>
    rangeOfPeriod(db, HEAVY, { from: time(share), to: time(share) + 86_400 }),
  )
  await figure(core, 'site, month', (db) => sumSite(db, START))
  const { sums } = await sumsOfPeriod(core.db, HEAVY, month)
  const rows = sums.reduce((sum, { count }) => sum + count, 0)
  await figure(core, `statement of ${rows} movements`, (db) => sumsOfPeriod(db, HEAVY, month))
  await fillEvents(core, 7)
  const { position } = await balanceAt(store, 7, null)
  await figure(core, `balance as of a position, ${EVENTS} events`, (_, share) =>
    balanceAt(store, 7, { position: position - Math.round(EVENTS * share) }),
  )
  await figure(core, `balance as of a time, ${EVENTS} events`, (_, share) =>
    balanceAt(store, 7, { time: (START + Math.round(EVENTS * share)) * 1_000 }),
  )
}

const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-bench-ledger-'))
const postgres = await startEmbeddedPostgres({ dataDir, log: createLog('error') })
const config = readConfig({
  DATABASE_URL: postgres.connectionString,
  SECRET_KEY: randomBytes(32).toString('base64'),
  LOG_LEVEL: 'error',
})
try {
  const { core, close } = await startCore(config)
  const projections = await startProjections(core)
  await projections.stop()
  await fillMovements(core.pg)
  await measure(core)
  await close()
} finally {
  await postgres.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exit(0)
