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
  sumMovements,
  sumSite,
} from '#projections/ledger/query.ts'
import { startProjections } from '#projections/runner/start-projections.ts'
import { balanceAt } from '#read-api/audit/balance-at.ts'

/**
 * Measures the queries of the ledger: pages at any depth, figures of any moment, sums of a month,
 * and the balance as of any position of a long history. Prints medians and maxima in ms. Needs
 * about 4 GB of disk, which are freed at the end. Parameters: movements (10000000), of which one
 * account has a half, and events of one account (1000000).
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
    1000000000 - i, 40, 'settled', case when i % 1000 < 998 then 'model-' || i % 20 else '' end,
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
  await client.query(`insert into read_ledger.site_days (day, type, reason, channel_id, model,
      count, amount)
    select created_at - created_at % 86400, type, reason, channel_id, model, count(*), sum(amount)
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

async function figure(name: string, work: (share: number) => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const begin = performance.now()
    await work(((round * 37) % ROUNDS) / ROUNDS)
    times.push(performance.now() - begin)
  }
  times.sort((a, b) => a - b)
  const [median, most] = [times[Math.floor(ROUNDS / 2)] ?? 0, times.at(-1) ?? 0]
  print(`| ${name} | ${median.toFixed(1)} | ${most.toFixed(1)} |`)
}

async function measure(core: Core): Promise<void> {
  const { db, store } = core
  const at = (share: number) => FIRST + Math.round(MOVEMENTS * share) + 1
  const time = (share: number) => START + Math.round(DAYS * 86_400 * share)
  const page = (share: number, part: Partial<LedgerFilter> = {}) =>
    listMovements(
      db,
      { ...{ userId: HEAVY, after: 0, before: at(share), types: [] }, ...part },
      101,
    )
  print(`${MOVEMENTS} movements, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}\n`)
  print('| query | median ms | most ms |\n|---|---|---|')
  await figure('page of 100, any depth', (share) => page(1 - share))
  await figure('page of 100 grants', (share) => page(1 - share, { types: ['grant'] }))
  await figure('page of a type without rows', (share) => page(1 - share, { types: ['refund'] }))
  await figure('page of a small account', (share) => page(1 - share, { userId: HEAVY + 7 }))
  await figure('figures at any position', (share) => figuresBefore(db, HEAVY, at(share)))
  await figure('ends of a period of a day', (share) =>
    rangeOfPeriod(db, HEAVY, { from: time(share), to: time(share) + 86_400 }),
  )
  await figure('site, month', () => sumSite(db, START, START + 31 * 86_400))
  const month = await rangeOfPeriod(db, HEAVY, { from: START, to: START + 31 * 86_400 })
  const begin = performance.now()
  const sums = await sumMovements(db, HEAVY, month)
  const rows = sums.reduce((sum, { count }) => sum + count, 0)
  print(`| statement of ${rows} movements, once | ${(performance.now() - begin).toFixed(0)} | |`)
  await fillEvents(core, 7)
  const { position } = await balanceAt(store, 7, null)
  await figure(`balance as of a position, ${EVENTS} events`, (share) =>
    balanceAt(store, 7, { position: position - Math.round(EVENTS * share) }),
  )
  await figure(`balance as of a time, ${EVENTS} events`, (share) =>
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
