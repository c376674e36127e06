import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { treeOf } from '#test/support/process-tree.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, addUser, setOption, setUpSite } from '#test/support/test-product.ts'
import { alternateGroups, signal } from './alternating-groups.ts'
import { quantiles } from './apply-load.ts'
import { limitCpuOfEach } from './cpu-limit.ts'
import type { LoadCount } from './load-generator.ts'
import { cpuSeconds } from './pinned-processes.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4)
/** Each connection uses a separate account, because two workers would conflict on one account. */
const CONNECTIONS = 512
const AT_ONCE = 6
/** The first warm-up also lets code be compiled. */
const WARM_UP_SECONDS = 3
const FIRST_WARM_UP_SECONDS = 15
/**
 * The CPU limit of a worker in cores. Two such workers leave CPU time for Postgres, provider and
 * load.
 */
const RATION = 0.4

const SETTINGS = {
  rationed: `each worker on a processor of its own, ${RATION} cores: so nothing else is short`,
  inTurn:
    'provider and load elsewhere (they and the relay with its Postgres run in turn on all cores)',
  together: 'everything on the same cores',
} as const

type Setting = keyof typeof SETTINGS

type Round = {
  readonly callsPerSecond: number
  /** The relay's CPU time per call in µs. */
  readonly relayUs: number
  readonly postgresUs: number
  readonly otherUs: number
  /** The average number of cores that the relay and Postgres used while running. */
  readonly cores: number
  readonly errors: number
  /** The errors by HTTP status. 0 counts broken connections. */
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

/**
 * Measures 1 and 2 workers on two cores: calls per second, and CPU time per call of each process.
 */
export async function measureWorkers(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-workers-'))
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  // A suspended process would never end by itself.
  const endAll = (): void => signal(treeOf(process.pid).slice(1), 'SIGKILL')
  const onSignal = (): never => process.exit(1)
  process.once('exit', endAll).once('SIGTERM', onSignal).once('SIGINT', onSignal)
  try {
    const stage = await setStage(folder, closers)
    await eachAlone(stage, () => delay(FIRST_WARM_UP_SECONDS * 1_000))
    for (const setting of ['rationed', 'inTurn', 'together'] as const) {
      print(`### relay workers, ${CONNECTIONS} connections: ${SETTINGS[setting]}\n`)
      const rounds = await alternate(stage, setting)
      if (rounds === null)
        print('Not measured: control groups for processors need Linux and root.\n')
      else report(print, rounds)
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
    closers.push(() => started.close())
    await started.start()
    return started
  }
  const provider = fork('test/bench/light-provider.ts', { silent: true })
  closers.push(() => provider.kill('SIGKILL'))
  const [line] = (await once(provider.stdout ?? provider, 'data')) as [Buffer]
  const office = await start({ ROLES: 'write-api,read-api,projections' })
  const keys = await seed(office.url, String(line).trim())
  // Stops the projections, because a production site may run them on another machine.
  await office.stop()
  const relays = new Map<number, ProductProcess>()
  for (const workers of [1, 2]) {
    relays.set(workers, await start({ ROLES: 'relay', RELAY_WORKERS: String(workers) }))
  }
  const load = fork('test/bench/load-generator.ts')
  closers.push(() => load.kill('SIGKILL'))
  return { postgres: postgres.pid, provider: provider.pid ?? 0, load, relays, keys }
}

async function seed(url: string, providerUrl: string): Promise<string[]> {
  const root = await setUpSite(url)
  await setOption(root, 'ModelRatio', { 'sim-small': 0.001 })
  await addChannel({ root, provider: { url: providerUrl } }, { models: 'sim-small' })
  const ids = Array.from({ length: CONNECTIONS }, (_, n) => n + 2)
  const keys: string[] = []
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE)
    keys.push(...(await Promise.all(some.map((n) => openAccount(root, `user${n}`)))))
  }
  return keys
}

/** Returns the key of a new user with enough quota. */
async function openAccount(root: ConsoleClient, username: string): Promise<string> {
  const { client } = await addUser(root, username, 1_000_000_000)
  return (await client.createToken({ name: 'bench', unlimited_quota: true })).key
}

async function alternate(stage: Stage, setting: Setting): Promise<Map<number, Round[]> | null> {
  const rounds = new Map([...stage.relays.keys()].map((workers) => [workers, [] as Round[]]))
  for (let round = 0; round < ROUNDS; round += 1) {
    await eachAlone(stage, async (relay, workers) => {
      const ration = setting === 'rationed' ? limitCpuOfEach(workersOf(relay.pid), RATION) : null
      if (setting === 'rationed' && ration === null) return
      rounds.get(workers)?.push(await measure(stage, relay, setting === 'inTurn'))
      ration?.end()
    })
  }
  return rounds.get(1)?.length === 0 ? null : rounds
}

/**
 * Suspends the other relays while `act` runs, because they would use CPU time for notifications of
 * commits.
 */
async function eachAlone(
  { relays, load, keys }: Stage,
  act: (relay: ProductProcess, workers: number) => Promise<void>,
): Promise<void> {
  for (const [workers, relay] of relays) {
    const others = [...relays.values()].filter((other) => other !== relay)
    const idle = others.flatMap(({ pid }) => treeOf(pid))
    signal(idle, 'SIGSTOP')
    load.send({ url: relay.url, keys })
    await act(relay, workers)
    load.send('rest')
    signal(idle, 'SIGCONT')
  }
}

/** Returns the process ids that serve calls. */
function workersOf(pid: number): number[] {
  const [, ...children] = treeOf(pid)
  return children.length === 0 ? [pid] : children
}

async function measure(stage: Stage, relay: ProductProcess, isInTurn: boolean): Promise<Round> {
  const { load, postgres, provider } = stage
  await delay(WARM_UP_SECONDS * 1_000)
  const product = () => [...treeOf(relay.pid), ...treeOf(postgres)]
  const turns = isInTurn ? alternateGroups(product, [provider, load.pid ?? 0]) : null
  await delay(300)
  const before = await look(stage, relay, turns?.seconds)
  await delay(SECONDS * (isInTurn ? 2_000 : 1_000))
  const after = await look(stage, relay, turns?.seconds)
  await turns?.end()
  const seconds = after.seconds - before.seconds
  const calls = after.count - before.count
  const perCall = (part: 'relay' | 'postgres' | 'other') =>
    ((after[part] - before[part]) * 1e6) / Math.max(1, calls)
  return {
    callsPerSecond: calls / seconds,
    relayUs: perCall('relay'),
    postgresUs: perCall('postgres'),
    otherUs: perCall('other'),
    cores: (after.relay + after.postgres - before.relay - before.postgres) / seconds,
    errors: after.errors,
    kinds: after.kinds,
  }
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

const medianOf = (rounds: readonly Round[], part: Figure): number =>
  quantiles(rounds.map((round) => round[part])).p50

if (import.meta.main) await measureWorkers((line) => void process.stdout.write(`${line}\n`))
