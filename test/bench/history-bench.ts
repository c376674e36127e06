import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { treeOf } from '#test/support/process-tree.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { setOption, setUpSite } from '#test/support/test-product.ts'
import { type LoadResult, openLoop, type Target } from './apply-load.ts'
import {
  chat,
  median,
  restartUntilFirstCall,
  rssMb,
  saturate,
  startUnpinned,
} from './compare-products.ts'
import { generateHistory, type HistorySize, MODEL } from './generate-history.ts'
import { AS_STARTED, cpuSeconds, endPreference, preferOverOthers } from './pinned-processes.ts'
import { describeRun, markdownOf } from './results-file.ts'

const setting = (name: string, value: number): number => Number(process.env[name] ?? value)
const ROUNDS = setting('BENCH_ROUNDS', 5)
const SECONDS = setting('BENCH_SECONDS', 4)
const STARTS = setting('BENCH_STARTS', 3)
/** The load after which the memory is measured, in seconds. */
const SATURATED_SECONDS = setting('BENCH_SATURATED_SECONDS', 60)
const WARM_UP_SECONDS = setting('BENCH_WARM_UP_SECONDS', 10)
const IDLE_SECONDS = 20
const RATE = 200
const USERS = setting('BENCH_USERS', 1_000)

/** Both sites have as many users, because every user makes calls during the measurement. */
const SIZES = {
  small: { users: USERS, tokens: USERS, channels: 10, events: 0, logRows: 0 },
  large: {
    users: USERS,
    tokens: setting('BENCH_TOKENS', 100_000),
    channels: setting('BENCH_CHANNELS', 1_000),
    events: setting('BENCH_EVENTS', 5_000_000),
    logRows: setting('BENCH_LOG_ROWS', 10_000_000),
  },
} as const satisfies Record<string, HistorySize>

type SiteName = keyof typeof SIZES
const NAMES = ['small', 'large'] as const

/** `keys` has a key of each user. The provider's port is a part of the channels' addresses. */
type SiteFile = { readonly secretKey: string; readonly keys: readonly string[] }

type Site = {
  readonly name: SiteName
  readonly processes: readonly [ProductProcess]
  readonly postgres: EmbeddedPostgres
  readonly target: Target
}

type Pair<Value> = Record<SiteName, Value>
/** The figures of one round. CPU times are in µs per call. */
type Round = Record<'relay' | 'postgres' | 'p50' | 'p99' | 'perSecond' | 'errors', number>

type Load = {
  readonly title: string
  readonly isAtRate: boolean
  readonly run: (target: Target) => Promise<LoadResult>
}

const closers: (() => unknown)[] = []
/** Both sites are in this folder. A folder that was given is kept and used again. */
const KEPT = process.env.BENCH_HISTORY_FOLDER ?? ''
const folder = KEPT === '' ? mkdtempSync(join(tmpdir(), 'tallygate-history-')) : KEPT
const rows: string[][] = []

/**
 * Compares a new site with one that has a long history: 100 000 tokens, 1 000 channels, 5 million
 * events and 10 million log rows. `generate-history.ts` says how the history is made. Each site is
 * one process with all roles, and has its own database server. Both run during the whole
 * measurement, and all loads alternate between them, with one key of each of the 1 000 users in
 * turn. By estimate, the history needs 20 GB, and half an hour on two idle cores.
 *
 * `BENCH_TOKENS`, `BENCH_CHANNELS`, `BENCH_EVENTS` and `BENCH_LOG_ROWS` set the size.
 * `BENCH_HISTORY_FOLDER` names a folder in which the sites are kept, so that the next run need not
 * generate them.
 */
async function bench(): Promise<void> {
  print(describeRun(`${ROUNDS} rounds of ${SECONDS} s, ${JSON.stringify(SIZES.large)}`))
  mkdirSync(folder, { recursive: true })
  const port = providerPort()
  const provider = await startUnpinned('infra/demo/run-simulated-provider.ts', [port, '5', '20'])
  closers.push(provider.close)
  const sites: Site[] = []
  for (const name of NAMES) sites.push(await openSite(name, provider.url))
  for (const { target } of sites) await saturate(target, false, WARM_UP_SECONDS)
  const pids = [process.pid, provider.pid, ...sites.flatMap(pidsOf)]
  await waitForMaintenance(sites)
  const isPreferred = preferOverOthers(pids)
  for (const load of LOADS.filter(({ isAtRate }) => isAtRate)) await compare(load, sites)
  if (isPreferred) endPreference([process.pid, provider.pid, ...sites.flatMap(pidsOf)])
  for (const load of LOADS.filter(({ isAtRate }) => !isAtRate)) await compare(load, sites)
  await waitForMaintenance(sites)
  await compareIdle(sites)
  await compareMemory(sites)
  await compareStarts(sites)
  print(`- Load after the run: ${loadavg()[0]?.toFixed(2)}\n`)
  print(markdownOf({ title: 'New site and long history', head: HEAD, rows }))
}

const HEAD = ['figure', 'new', 'long history', 'ratio']

const LOADS: readonly Load[] = [false, true].flatMap((isStream) => {
  const kind = isStream ? 'streamed' : 'plain'
  return [
    {
      ...{ title: `${kind}, ${RATE}/s`, isAtRate: true },
      run: (target: Target) => openLoop(target, chat(isStream), { rate: RATE, seconds: SECONDS }),
    },
    {
      ...{ title: `${kind}, saturated`, isAtRate: false },
      run: (target: Target) => saturate(target, isStream, SECONDS),
    },
  ]
})

const pidsOf = ({ postgres, processes }: Site): number[] =>
  [postgres.pid, ...processes.map(({ pid }) => pid)].flatMap(treeOf)

/** Alternates a load between the sites, and adds its figures to the table. */
async function compare({ title, run, isAtRate }: Load, sites: readonly Site[]): Promise<void> {
  const rounds: Pair<Round[]> = { small: [], large: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const site of round % 2 === 0 ? sites : sites.toReversed()) {
      rounds[site.name].push(await measure(run, site))
    }
  }
  const figures = [
    ...[['relay', 'CPU µs of the product'] as const, ['postgres', 'CPU µs of Postgres'] as const],
    ...(isAtRate
      ? [['p50', 'first byte p50 ms'] as const, ['p99', 'first byte p99 ms'] as const]
      : [['perSecond', 'calls/s'] as const]),
    ['errors', 'failed calls'] as const,
  ]
  for (const [part, unit] of figures) {
    const values = (name: SiteName) => rounds[name].map((round) => round[part])
    addRow(`${title}: ${unit}`, { small: values('small'), large: values('large') })
  }
}

async function measure(run: Load['run'], site: Site): Promise<Round> {
  const before = cpuOf(site)
  const { count, errors, seconds, firstByteUs } = await run(site.target)
  // The read models of the last calls belong to this round.
  await delay(300)
  const after = cpuOf(site)
  const perCall = (part: keyof typeof after) => ((after[part] - before[part]) * 1e6) / count
  return {
    ...{ relay: perCall('relay'), postgres: perCall('postgres'), errors },
    ...{ p50: firstByteUs.p50 / 1_000, p99: firstByteUs.p99 / 1_000, perSecond: count / seconds },
  }
}

const cpuOf = ({ processes: [product], postgres }: Site) => ({
  relay: cpuSeconds(product.pid),
  postgres: cpuSeconds(postgres.pid),
})

async function compareIdle(sites: readonly Site[]): Promise<void> {
  const before = sites.map(cpuOf)
  await delay(IDLE_SECONDS * 1_000)
  for (const part of ['relay', 'postgres'] as const) {
    const [small = 0, large = 0] = sites.map(
      (site, index) => ((cpuOf(site)[part] - (before[index]?.[part] ?? 0)) * 1_000) / IDLE_SECONDS,
    )
    const who = part === 'relay' ? 'the product' : 'Postgres'
    addRow(`idle: CPU ms/s of ${who}`, { small: [small], large: [large] })
  }
}

async function compareMemory(sites: readonly Site[]): Promise<void> {
  const measured = () => sites.map(({ processes: [{ pid }] }) => Number(rssMb(pid)))
  for (const { target } of sites) await saturate(target, false, SATURATED_SECONDS)
  const [small = 0, large = 0] = measured()
  const title = `RSS MB of the product after ${SATURATED_SECONDS} s of saturation`
  addRow(title, { small: [small], large: [large] })
}

async function compareStarts(sites: readonly Site[]): Promise<void> {
  const seconds: Pair<number[]> = { small: [], large: [] }
  const memory: Pair<number[]> = { small: [], large: [] }
  for (let round = 0; round < STARTS; round += 1) {
    for (const site of sites) {
      seconds[site.name].push(await restartUntilFirstCall(site))
      memory[site.name].push(Number(rssMb(site.processes[0].pid)))
    }
  }
  addRow('start to the first call, s, without Postgres', seconds)
  addRow('RSS MB of the product after its start', memory)
}

/** Adds the medians, and the median of the rounds' ratios. */
function addRow(title: string, { small, large }: Pair<readonly number[]>): void {
  const ratios = large.map((value, index) => value / (small[index] ?? Number.NaN))
  const shown = (value: number) => value.toFixed(value < 10 ? 2 : 0)
  const ratio = median(ratios)
  const row = [title, shown(median(small)), shown(median(large))]
  rows.push([...row, Number.isFinite(ratio) ? ratio.toFixed(2) : ''])
  process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`)
}

/** Returns the provider's port, which stays the same if the folder is used again. */
function providerPort(): string {
  const file = join(folder, 'provider-port')
  if (!existsSync(file)) writeFileSync(file, String(randomInt(15_000, 32_000)))
  return readFileSync(file, 'utf8')
}

async function openSite(name: SiteName, providerUrl: string): Promise<Site> {
  const dataDir = join(folder, name)
  mkdirSync(dataDir, { recursive: true })
  const postgres = await startEmbeddedPostgres({ dataDir, log: createLog('error') })
  closers.push(() => postgres.stop())
  const file = join(folder, `${name}.json`)
  if (!existsSync(file)) {
    const site = await createSite(name, postgres.connectionString, providerUrl)
    writeFileSync(file, JSON.stringify(site))
  }
  const { secretKey, keys } = JSON.parse(readFileSync(file, 'utf8')) as SiteFile
  const product = await createProduct(postgres.connectionString, secretKey)
  closers.push(() => product.close())
  await product.start()
  await waitUntilSealed(postgres.connectionString)
  const target = { url: `${product.url}/v1/chat/completions`, headers: {}, keys }
  return { name, processes: [product], postgres, target }
}

const createProduct = (databaseUrl: string, secretKey: string): Promise<ProductProcess> =>
  ProductProcess.create({
    ...{ DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, LOG_LEVEL: 'error', ...AS_STARTED },
  })

async function createSite(
  name: SiteName,
  databaseUrl: string,
  providerUrl: string,
): Promise<SiteFile> {
  const began = performance.now()
  const secretKey = randomBytes(32).toString('base64')
  const product = await createProduct(databaseUrl, secretKey)
  try {
    await product.start()
    await setOption(await setUpSite(product.url), 'ModelRatio', { [MODEL]: 0.001 })
    await product.stop()
  } finally {
    await product.close()
  }
  const note = (step: string): void => {
    const seconds = ((performance.now() - began) / 1_000).toFixed(0)
    process.stderr.write(`${name}: ${step} after ${seconds} s\n`)
  }
  const keys = await generateHistory({ databaseUrl, secretKey, providerUrl }, SIZES[name], note)
  return { secretKey, keys }
}

/** Waits until the transparency log has all events. */
async function waitUntilSealed(connectionString: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  for (;;) {
    const { rows: found } = await client.query<{ behind: number }>(`select (h.position -
      coalesce((select last_position from transparency_log.log), 0))::float8 as behind
      from event_store.head h`)
    if ((found[0]?.behind ?? 0) === 0) break
    await delay(500)
  }
  await client.end()
}

/** The number of seconds in a row without a vacuum after which Postgres counts as quiet. */
const QUIET_SECONDS = 10

/**
 * Writes a checkpoint and waits until Postgres vacuums no table. The large tables of the long
 * history would otherwise be vacuumed during the measurement, because of the calls before it.
 */
async function waitForMaintenance(sites: readonly Site[]): Promise<void> {
  for (const { postgres } of sites) {
    const client = new Client({ connectionString: postgres.connectionString })
    await client.connect()
    await client.query('checkpoint')
    for (let quiet = 0; quiet < QUIET_SECONDS; ) {
      const { rowCount } = await client.query(
        `select from pg_stat_activity where backend_type = 'autovacuum worker'`,
      )
      quiet = rowCount === 0 ? quiet + 1 : 0
      await delay(1_000)
    }
    await client.end()
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

try {
  await bench()
} finally {
  for (const close of closers.reverse()) await close()
  if (KEPT === '') rmSync(folder, { recursive: true, force: true })
}
