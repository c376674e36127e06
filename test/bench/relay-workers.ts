import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ConsoleClient } from '#infra/demo/console-client.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { treeOf } from '#test/support/process-tree.ts'
import { PASSWORD, setOption } from '#test/support/product.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import type { LoadCount } from './load-program.ts'
import { cpuSeconds } from './processes.ts'
import { signal, takeTurns } from './turns.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4)
/**
 * So many that no turn runs out of calls. Each has an account of its own: one that two workers
 * write meets conflicts.
 */
const CONNECTIONS = 512
const AT_ONCE = 6
const WARM_UP_SECONDS = 3

/** Who shares the cores with the relay. The others run while it does not, on as many cores. */
const SETTINGS = {
  alone: 'nobody: provider, load and Postgres are elsewhere',
  withPostgres: 'Postgres: provider and load are elsewhere',
  withAll: 'all: nothing is elsewhere',
} as const

type Setting = keyof typeof SETTINGS

type Round = {
  readonly callsPerSecond: number
  /** CPU µs per call. */
  readonly relayUs: number
  readonly postgresUs: number
  readonly otherUs: number
  /** Of those that it has, the cores that the relay used, and Postgres where it shares them. */
  readonly cores: number
  readonly errors: number
  /** Errors by HTTP status; 0 where the connection broke. */
  readonly kinds: LoadCount['kinds']
}

type Figure = Exclude<keyof Round, 'kinds'>

type Stage = {
  readonly postgres: number
  readonly provider: number
  readonly load: ChildProcess
  readonly relays: ReadonlyMap<number, ProductProcess>
  readonly keys: readonly string[]
}

/** Throughput of relays with 1 and 2 workers on two cores, and what each call costs whom. */
export async function measureWorkers(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-workers-'))
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  // Those that wait for their turn would wait for ever.
  const endAll = (): void => signal(treeOf(process.pid).slice(1), 'SIGKILL')
  const onSignal = (): never => process.exit(1)
  process.once('exit', endAll).once('SIGTERM', onSignal).once('SIGINT', onSignal)
  try {
    const stage = await setStage(folder, closers)
    for (const setting of ['alone', 'withPostgres', 'withAll'] as const) {
      print(
        `### relay workers, ${CONNECTIONS} connections; on the relay's cores: ${SETTINGS[setting]}\n`,
      )
      report(print, await alternate(stage, setting))
    }
  } finally {
    for (const close of closers.reverse()) await close()
    process.off('exit', endAll).off('SIGTERM', onSignal).off('SIGINT', onSignal)
  }
}

async function setStage(folder: string, closers: (() => unknown)[]): Promise<Stage> {
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: createLog('error') })
  closers.push(() => postgres.stop())
  const environment = {
    DATABASE_URL: postgres.connectionString,
    SECRET_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
  }
  const start = async (more: Record<string, string>): Promise<ProductProcess> => {
    const started = await ProductProcess.create({ ...environment, ...more })
    closers.push(() => started.remove())
    await started.start()
    return started
  }
  const provider = fork('test/bench/light-provider.ts', { silent: true })
  closers.push(() => provider.kill('SIGKILL'))
  const [line] = (await once(provider.stdout ?? provider, 'data')) as [Buffer]
  const office = await start({ ROLES: 'write-api,read-api,projections' })
  const keys = await furnish(office.url, String(line).trim())
  // Folding the log is the projector's work, on whatever machine it has.
  await office.stop()
  const relays = new Map<number, ProductProcess>()
  for (const workers of [1, 2]) {
    relays.set(workers, await start({ ROLES: 'relay', RELAY_WORKERS: String(workers) }))
  }
  const load = fork('test/bench/load-program.ts')
  closers.push(() => load.kill('SIGKILL'))
  return { postgres: postgres.pid, provider: provider.pid ?? 0, load, relays, keys }
}

async function furnish(url: string, providerUrl: string): Promise<string[]> {
  const root = new ConsoleClient(url)
  await root.setUp('root', PASSWORD)
  await root.logIn('root', PASSWORD)
  await setOption(root, 'ModelRatio', { 'sim-small': 0.001 })
  await root.must('POST', '/api/channel/', {
    name: 'light',
    type: 1,
    key: 'sk-upstream',
    base_url: providerUrl,
    models: 'sim-small',
    group: 'default',
  })
  const ids = Array.from({ length: CONNECTIONS }, (_, n) => n + 2)
  const keys: string[] = []
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE)
    keys.push(...(await Promise.all(some.map((n) => openAccount(root, `user${n}`)))))
  }
  return keys
}

/** Answers a key of a new user who has quota for any number of calls. */
async function openAccount(root: ConsoleClient, username: string): Promise<string> {
  await root.must('POST', '/api/user/', { username, password: PASSWORD })
  const owner = new ConsoleClient(root.url)
  const id = await owner.logIn(username, PASSWORD)
  await root.must('PUT', '/api/user/', { id, quota: 1_000_000_000 })
  return (await owner.createToken({ name: 'bench', unlimited_quota: true })).key
}

async function alternate(stage: Stage, setting: Setting): Promise<Map<number, Round[]>> {
  const rounds = new Map([...stage.relays.keys()].map((workers) => [workers, [] as Round[]]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [workers, relay] of stage.relays) {
      const others = [...stage.relays.values()].filter((other) => other !== relay)
      // One that only listens to the other's commits would take its share of the cores.
      const idle = others.flatMap(({ pid }) => treeOf(pid))
      signal(idle, 'SIGSTOP')
      rounds.get(workers)?.push(await measure(stage, relay, setting))
      signal(idle, 'SIGCONT')
    }
  }
  return rounds
}

async function measure(stage: Stage, relay: ProductProcess, setting: Setting): Promise<Round> {
  const { load } = stage
  load.send({ url: relay.url, keys: stage.keys })
  await delay(WARM_UP_SECONDS * 1_000)
  const isShared = setting !== 'alone'
  const turns = setting === 'withAll' ? null : turnsOf(stage, relay, setting)
  await delay(300)
  const before = await look(stage, relay, turns?.seconds)
  await delay(SECONDS * (turns === null ? 1_000 : 2_000))
  const after = await look(stage, relay, turns?.seconds)
  await turns?.end()
  load.send('rest')
  const seconds = after.seconds - before.seconds
  const calls = after.count - before.count
  const perCall = (part: 'relay' | 'postgres' | 'other') =>
    ((after[part] - before[part]) * 1e6) / Math.max(1, calls)
  return {
    callsPerSecond: calls / seconds,
    relayUs: perCall('relay'),
    postgresUs: perCall('postgres'),
    otherUs: perCall('other'),
    cores:
      (after.relay - before.relay + (isShared ? after.postgres - before.postgres : 0)) / seconds,
    errors: after.errors,
    kinds: after.kinds,
  }
}

function turnsOf({ load, postgres, provider }: Stage, relay: ProductProcess, setting: Setting) {
  const product = treeOf(relay.pid)
  const database = treeOf(postgres)
  const others = [provider, load.pid ?? 0]
  return setting === 'alone'
    ? takeTurns(product, [...others, ...database])
    : takeTurns([...product, ...database], others)
}

async function look(
  { load, postgres, provider }: Stage,
  relay: ProductProcess,
  turnSeconds: (() => number) | undefined,
) {
  const answered = once(load, 'message')
  load.send('count')
  const [{ count, errors, kinds }] = (await answered) as [LoadCount]
  return {
    count,
    errors,
    kinds,
    seconds: turnSeconds?.() ?? performance.now() / 1_000,
    relay: cpuSeconds(relay.pid),
    postgres: cpuSeconds(postgres),
    other: cpuSeconds(provider) + cpuSeconds(load.pid ?? 0),
  }
}

function report(
  print: (line: string) => void,
  rounds: ReadonlyMap<number, readonly Round[]>,
): void {
  print('| workers | calls/s | × 1 worker | relay µs | Postgres µs | others µs | cores | errors |')
  print('|---|---|---|---|---|---|---|---|')
  const one = medianOf(rounds.get(1) ?? [], 'callsPerSecond')
  for (const [workers, all] of rounds) {
    const median = (part: Figure) => medianOf(all, part)
    const cells = [
      workers,
      median('callsPerSecond').toFixed(0),
      (median('callsPerSecond') / one).toFixed(2),
      median('relayUs').toFixed(0),
      median('postgresUs').toFixed(0),
      median('otherUs').toFixed(0),
      median('cores').toFixed(2),
      all.map(({ kinds, errors }) => (errors === 0 ? '0' : JSON.stringify(kinds))).join(' '),
    ]
    print(`| ${cells.join(' | ')} |`)
  }
  print('')
}

function medianOf(rounds: readonly Round[], part: Figure): number {
  const values = rounds.map((round) => round[part]).sort((a, b) => a - b)
  return values[Math.floor(values.length / 2)] ?? Number.NaN
}

if (import.meta.main) await measureWorkers((line) => void process.stdout.write(`${line}\n`))
