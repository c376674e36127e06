import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { quantiles } from './apply-load.ts'
import { ANSWER_TOKENS, type BenchSetup, GAP_MS, startBenchSetup } from './bench-setup.ts'
import { type MeasuredLoad, rateTable, saturationTable } from './load-tables.ts'
import { measureFormats } from './measure-formats.ts'
import { measureForwarding } from './measure-forwarding.ts'
import { atRate, type BenchLength, saturate } from './measure-load.ts'
import { measureProduct } from './measure-product.ts'
import { measureLag } from './projection-lag.ts'
import { measureWorkers } from './relay-workers-bench.ts'
import { describeRun, markdownOf, type Table, writeResults } from './results-file.ts'

const PHASES = ['saturated', 'formats', 'forwarding', 'rates', 'lag', 'product', 'workers'] as const
type Phase = (typeof PHASES)[number]
const SETUP_PHASES: readonly Phase[] = ['saturated', 'formats', 'forwarding', 'rates', 'lag']

/** The number of events of a stream: the words, the finish reason and the usage. */
const EVENTS = ANSWER_TOKENS + 2
const STREAM = `${EVENTS} events ${GAP_MS} ms apart`
/** The seconds of load after which the memory is measured. */
const SATURATED_SECONDS = 60
/** A rate of one call per second needs more time for its figures. */
const CALLS_MIN = 10

/**
 * Runs `npm run bench`: in each round, the same load is applied to one target after another.
 * `--only saturated,rates` selects phases. A run of all phases writes `RESULTS.md`.
 */
async function bench(phases: readonly Phase[]): Promise<void> {
  const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
  const seconds = Number(process.env.BENCH_SECONDS ?? 4)
  const run = describeRun(`Medians of ${rounds} interleaved rounds of ${seconds} s`)
  print(`${run}\n`)
  const tables: Table[] = []
  const show = (table: Table): void => {
    tables.push(table)
    print(markdownOf(table))
  }
  const length = { rounds, seconds }
  await onSetup(phases, async (rig) => {
    if (phases.includes('saturated'))
      show(saturationTable(await saturatedLoads(rig, length), STREAM))
    if (phases.includes('formats')) await measureFormats(rig, length, show)
    rig.releaseCores()
    if (phases.includes('forwarding')) show(await measureForwarding(rig, rounds))
    if (phases.includes('rates')) show(rateTable(await ratedLoads(rig, length)))
    if (phases.includes('lag')) show(await lag(rig, seconds))
  })
  if (phases.includes('product')) {
    const chatBody = (isSlow: boolean) => chat({ isStream: isSlow, kb: 1, isSlow })
    show(await measureProduct({ saturatedSeconds: SATURATED_SECONDS, chatBody }))
  }
  if (phases.length === PHASES.length) writeResults(run, tables)
  if (phases.includes('workers')) await measureWorkers(print)
}

async function onSetup(
  phases: readonly Phase[],
  measure: (rig: BenchSetup) => Promise<void>,
): Promise<void> {
  if (!phases.some((phase) => SETUP_PHASES.includes(phase))) return
  const rig = await startBenchSetup()
  try {
    await measure(rig)
  } finally {
    await rig.stop()
    rmSync(rig.folder, { recursive: true, force: true })
  }
}

async function saturatedLoads(rig: BenchSetup, length: BenchLength): Promise<MeasuredLoad[]> {
  const loads = [
    { isStream: false, kb: 1, connections: 64, warmUpCalls: 12_000 },
    { isStream: true, kb: 1, connections: 200, warmUpCalls: 4_000 },
    { isStream: false, kb: 98, connections: 32, warmUpCalls: 2_000 },
    { isStream: true, kb: 98, connections: 64, warmUpCalls: 1_000 },
    { isStream: false, kb: 1_000, connections: 16, warmUpCalls: 200 },
    { isStream: true, kb: 1_000, connections: 16, warmUpCalls: 100 },
  ]
  const measured: MeasuredLoad[] = []
  for (const { isStream, kb, ...load } of loads) {
    const rounds = await saturate(rig, chat({ isStream, kb }), load, length)
    const kind = isStream ? 'streamed' : 'plain'
    measured.push({ load: `${kind}, ${kb} KB, ${load.connections} connections`, rounds })
  }
  return measured
}

async function ratedLoads(rig: BenchSetup, length: BenchLength): Promise<MeasuredLoad[]> {
  const measured: MeasuredLoad[] = []
  for (const rate of [1, 15, 200]) {
    for (const isStream of [false, true]) {
      const seconds = Math.max(length.seconds, CALLS_MIN / rate)
      const rounds = await atRate(rig, chat({ isStream, kb: 1 }), rate, { ...length, seconds })
      measured.push({ load: `${isStream ? 'streamed' : 'plain'}, ${rate}/s`, rounds })
    }
  }
  return measured
}

async function lag(rig: BenchSetup, seconds: number): Promise<Table> {
  const { lagsMs, missing } = await measureLag(rig, { rate: 500, seconds: seconds * 2 })
  const { p50, p99 } = quantiles(lagsMs)
  return {
    title: 'From the last byte of a call to its row on the live socket, at 500 calls/s',
    head: ['p50 ms', 'p99 ms', 'rows', 'missing'],
    rows: [[p50.toFixed(0), p99.toFixed(0), String(lagsMs.length), String(missing)]],
  }
}

type Chat = { readonly isStream: boolean; readonly kb: number; readonly isSlow?: boolean }

function chat({ isStream, kb, isSlow = false }: Chat): string {
  const text = 'Explain in plain words how a gateway accounts for every call that it relays. '
  return JSON.stringify({
    model: isSlow ? 'sim-slow' : 'sim-small',
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: text.repeat(Math.ceil((kb * 850) / text.length)) },
    ],
    temperature: 0.7,
    max_tokens: isSlow ? 100 : ANSWER_TOKENS,
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  })
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const { only } = parseArgs({ options: { only: { type: 'string' } } }).values
const named = only?.split(',')
await bench(PHASES.filter((phase) => named?.includes(phase) ?? true))
