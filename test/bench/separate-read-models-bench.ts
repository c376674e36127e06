import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createLog } from '#infra/telemetry/log.ts'
import { treeOf } from '#test/support/process-tree.ts'
import { ProductProcess } from '#test/support/product-process.ts'
import { addChannel, setOption, setUpSite } from '#test/support/test-product.ts'
import { type LoadResult, openLoop, quantiles, type Target } from './apply-load.ts'
import {
  chat,
  median,
  restartUntilFirstCall,
  rssMb,
  saturate,
  startUnpinned,
} from './compare-products.ts'
import { AS_STARTED, cpuSeconds, endPreference, preferOverOthers } from './pinned-processes.ts'
import { measureLag } from './projection-lag.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4)
const WARM_UP_SECONDS = 10
const IDLE_SECONDS = 20
/** The load after which the memory is measured, in seconds. */
const SATURATED_SECONDS = 60

/** Each array is one process with its roles. */
const FORMS = {
  'one process': ['write-api,read-api,relay,console,projections'],
  'read models apart': ['projections', 'write-api,read-api,relay,console'],
} as const

type FormName = keyof typeof FORMS

type Form = {
  readonly name: FormName
  /** The last process has the relay and the APIs. */
  readonly processes: readonly ProductProcess[]
  readonly postgres: number
  readonly console: ConsoleClient
  readonly target: Target
}

type Load = { readonly title: string; readonly run: (target: Target) => Promise<LoadResult> }

/** The CPU times are in µs per call: of the relay's process, and of all with Postgres. */
type Round = LoadResult & { readonly relayUs: number; readonly allUs: number }

const closers: (() => unknown)[] = []
/** The ids of the provider and of the bare proxy. */
const programs: number[] = []

/**
 * Compares the product in one process with the product whose read models, sealer and audit jobs run
 * in a second process. Each form has a separate database. All loads alternate between the forms.
 */
async function bench(): Promise<void> {
  const provider = await startBeside('infra/demo/run-simulated-provider.ts', ['0', '5', '20'])
  const bare = await startBeside('test/bench/bare-proxy.ts', [provider])
  const forms: Form[] = []
  for (const name of Object.keys(FORMS) as FormName[]) forms.push(await startForm(name, provider))
  const proxy = { url: `${bare}/v1/chat/completions`, headers: {} }
  for (const form of forms) await saturate(form.target, false, WARM_UP_SECONDS)
  print('| load | form | calls/s | p50 ms | p99 ms | relay µs | all µs | ÷ one process | errors |')
  print('|---|---|---|---|---|---|---|---|---|')
  // A call at a fixed rate would otherwise wait for a core that other programs use.
  const pids = [process.pid, ...pidsOf(forms)]
  const isPreferred = preferOverOthers(pids)
  for (const load of LOADS_AT_RATES) await compare(load, proxy, forms)
  if (isPreferred) endPreference([process.pid, ...pidsOf(forms)])
  for (const load of SATURATING_LOADS) await compare(load, proxy, forms)
  for (const form of forms) await measureRest(form)
}

const LOADS_AT_RATES: readonly Load[] = [200, 15, 1].flatMap((rate) =>
  [false, true].map((isStream) => ({
    title: `${isStream ? 'streamed' : 'plain'}, ${rate}/s`,
    run: (target: Target) =>
      openLoop(target, chat(isStream), { rate, seconds: rate === 1 ? 10 : SECONDS }),
  })),
)

const SATURATING_LOADS: readonly Load[] = [false, true].map((isStream) => ({
  title: `${isStream ? 'streamed' : 'plain'}, saturated`,
  run: (target: Target) => saturate(target, isStream, SECONDS),
}))

/** Returns the ids of all processes that take part in a call. */
const pidsOf = (forms: readonly Form[]): number[] => [
  ...programs,
  ...forms.flatMap(({ postgres, processes }) =>
    [postgres, ...processes.map(({ pid }) => pid)].flatMap(treeOf),
  ),
]

async function compare(load: Load, proxy: Target, forms: readonly Form[]): Promise<void> {
  const bare: LoadResult[] = []
  const rounds = new Map(forms.map(({ name }) => [name, [] as Round[]]))
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await load.run(proxy))
    const order = round % 2 === 0 ? forms : forms.toReversed()
    for (const form of order) rounds.get(form.name)?.push(await measure(load, form))
  }
  const p = (all: readonly LoadResult[], part: 'p50' | 'p99') =>
    median(all.map(({ firstByteUs }) => firstByteUs[part] / 1_000)).toFixed(2)
  print(`| ${load.title} | bare proxy |  | ${p(bare, 'p50')} | ${p(bare, 'p99')} | | | | |`)
  const first = rounds.get('one process') ?? []
  for (const [name, all] of rounds) {
    const ratios = all.map((round, index) => round.allUs / (first[index]?.allUs ?? 1))
    const cells = [
      ...[load.title, name, median(all.map((round) => round.count / round.seconds)).toFixed(0)],
      ...[p(all, 'p50'), p(all, 'p99'), median(all.map(({ relayUs }) => relayUs)).toFixed(0)],
      median(all.map(({ allUs }) => allUs)).toFixed(0),
      ...[median(ratios).toFixed(2), String(all.reduce((sum, { errors }) => sum + errors, 0))],
    ]
    print(`| ${cells.join(' | ')} |`)
  }
}

async function measure(load: Load, { processes, postgres, target }: Form): Promise<Round> {
  const relay = () => cpuSeconds(processes.at(-1)?.pid ?? 0)
  const all = () =>
    cpuSeconds(postgres) + processes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0)
  const before = { relay: relay(), all: all() }
  const result = await load.run(target)
  // The read models of the last calls belong to this round.
  await delay(300)
  const perCall = (seconds: number): number => (seconds * 1e6) / Math.max(1, result.count)
  return {
    ...result,
    relayUs: perCall(relay() - before.relay),
    allUs: perCall(all() - before.all),
  }
}

async function measureRest(form: Form): Promise<void> {
  const { lagsMs, missing } = await measureLag(
    { console: form.console, targets: { tallygate: form.target } },
    { rate: 200, seconds: 10 },
  )
  const lag = quantiles(lagsMs)
  const cpu = (): number[] => [
    ...form.processes.map(({ pid }) => cpuSeconds(pid)),
    cpuSeconds(form.postgres),
  ]
  const before = cpu()
  await delay(IDLE_SECONDS * 1_000)
  const idle = cpu().map((seconds, index) => (seconds - (before[index] ?? 0)) / IDLE_SECONDS)
  const idleMb = form.processes.map(({ pid }) => rssMb(pid))
  await saturate(form.target, false, SATURATED_SECONDS)
  const loadedMb = form.processes.map(({ pid }) => rssMb(pid))
  const starts: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) starts.push(await restartUntilFirstCall(form))
  print(`\n${form.name}, a number for each process in the order ${FORMS[form.name].join(' + ')}:`)
  print(`- live row after its call: p50 ${lag.p50.toFixed(0)}, p99 ${lag.p99.toFixed(0)} ms`)
  print(`- rows missing: ${missing}`)
  print(`- idle, ms/s, Postgres last: ${idle.map((one) => (one * 1_000).toFixed(1)).join(' + ')}`)
  print(`- RSS before load: ${idleMb.join(' + ')} MB`)
  print(`- RSS after ${SATURATED_SECONDS} s: ${loadedMb.join(' + ')} MB`)
  print(`- start to first call without Postgres: ${median(starts).toFixed(2)} s`)
}

async function startBeside(program: string, programArguments: string[]): Promise<string> {
  const { url, pid, close } = await startUnpinned(program, programArguments)
  programs.push(pid)
  closers.push(close)
  return url
}

async function startForm(name: FormName, provider: string): Promise<Form> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-separate-'))
  closers.push(() => rmSync(dataDir, { recursive: true, force: true }))
  const postgres = await startEmbeddedPostgres({ dataDir, log: createLog('error') })
  closers.push(() => postgres.stop())
  const environment = {
    DATABASE_URL: postgres.connectionString,
    SECRET_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
    ...AS_STARTED,
  }
  const processes: ProductProcess[] = []
  for (const ROLES of FORMS[name]) {
    const one = await ProductProcess.create({ ...environment, ROLES })
    closers.push(() => one.close())
    await one.start()
    processes.push(one)
  }
  const url = processes.at(-1)?.url ?? ''
  const console = await setUpSite(url)
  await setOption(console, 'ModelRatio', { 'sim-small': 0.001 })
  await addChannel({ root: console, provider: { url: provider } }, { models: 'sim-small' })
  const { key } = await console.createToken({ name: 'bench', unlimited_quota: true })
  const headers = { authorization: `Bearer ${key}` }
  const target = { url: `${url}/v1/chat/completions`, headers }
  return { name, processes, postgres: postgres.pid, console, target }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

try {
  await bench()
} finally {
  for (const close of closers.reverse()) await close()
}
