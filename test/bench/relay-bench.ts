import { rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { closedLoop, type LoadResult, openLoop, quantiles } from './apply-load.ts'
import { ANSWER_TOKENS, type BenchSetup, GAP_MS, startBenchSetup } from './bench-setup.ts'
import { cpuSeconds } from './pinned-processes.ts'
import { measureLag } from './projection-lag.ts'
import { measureWorkers } from './relay-workers-bench.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4)
const NAMES = ['direct', 'bare proxy', 'tallygate'] as const
type Name = (typeof NAMES)[number]
/** A stream consists of words, the finish reason and the usage. */
const EVENTS = ANSWER_TOKENS + 2

type Round = LoadResult & {
  readonly cpuUs: number
  readonly postgresUs: number
  readonly readModelsUs: number
}

/** Runs `npm run bench`, whose rounds apply one load to each target. */
async function bench(): Promise<void> {
  const rig = await startBenchSetup()
  try {
    print(`Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(2)}`)
    print(
      `${ROUNDS} rounds of ${SECONDS} s, interleaved; of each the round of least CPU is shown\n`,
    )
    await saturate(rig, 'plain', { isStream: false, connections: 64, warmUpCalls: 12_000 })
    const events = `${EVENTS} events, ${GAP_MS} ms apart`
    await saturate(rig, `streamed (${events})`, {
      ...{ isStream: true, connections: 200, warmUpCalls: 4_000 },
    })
    rig.releaseCores()
    await addedFirstByte(rig)
    await lag(rig)
  } finally {
    await rig.stop()
    rmSync(rig.folder, { recursive: true, force: true })
  }
}

type Saturation = {
  readonly isStream: boolean
  readonly connections: number
  readonly warmUpCalls: number
}

async function saturate(
  rig: BenchSetup,
  title: string,
  { isStream, connections, warmUpCalls }: Saturation,
): Promise<void> {
  const body = chatBody(isStream)
  const rounds = await interleave(
    rig,
    (name) => closedLoop(rig.targets[name], body, { connections, seconds: SECONDS }),
    warmUpCalls,
  )
  print(`### ${title}: ${connections} connections, as fast as they go\n`)
  print(
    '| target | calls/s | p50 ms | p99 ms | CPU µs/call | median | ÷ bare | ÷ bare, medians |' +
      ' Postgres µs | read models µs | errors |',
  )
  print('|---|---|---|---|---|---|---|---|---|---|---|')
  const bare = Math.min(...rounds['bare proxy'].map(({ cpuUs }) => cpuUs))
  for (const name of NAMES) {
    const best = bestOf(rounds[name])
    const cells = [
      name,
      (best.count / best.seconds).toFixed(0),
      (best.totalUs.p50 / 1000).toFixed(2),
      (best.totalUs.p99 / 1000).toFixed(2),
      best.cpuUs.toFixed(1),
      medianOf(rounds[name]).toFixed(1),
      (best.cpuUs / bare).toFixed(2),
      (medianOf(rounds[name]) / medianOf(rounds['bare proxy'])).toFixed(2),
      name === 'tallygate' ? best.postgresUs.toFixed(1) : '',
      name === 'tallygate' ? best.readModelsUs.toFixed(1) : '',
      rounds[name].reduce((sum, { errors }) => sum + errors, 0),
    ]
    print(`| ${cells.join(' | ')} |`)
  }
  print('')
}

async function addedFirstByte(rig: BenchSetup): Promise<void> {
  print('### added first-byte time at 200 calls/s, over direct, no process pinned\n')
  print('| target | plain p50 ms | plain p99 ms | streamed p50 ms | streamed p99 ms |')
  print('|---|---|---|---|---|')
  const run = (isStream: boolean) =>
    interleave(rig, (name) =>
      openLoop(rig.targets[name], chatBody(isStream), { rate: 200, seconds: SECONDS }),
    )
  const plain = await run(false)
  const streamed = await run(true)
  const best = (rounds: Round[], part: 'p50' | 'p99') =>
    Math.min(...rounds.map(({ firstByteUs }) => firstByteUs[part]))
  for (const name of NAMES.slice(1)) {
    const cells = [plain, streamed].flatMap((rounds) =>
      (['p50', 'p99'] as const).map((part) =>
        ((best(rounds[name], part) - best(rounds.direct, part)) / 1000).toFixed(2),
      ),
    )
    print(`| ${name} | ${cells.join(' | ')} |`)
  }
  print('')
}

async function lag(rig: BenchSetup): Promise<void> {
  const { lagsMs, missing } = await measureLag(rig, { rate: 500, seconds: SECONDS * 2 })
  const { p50, p99 } = quantiles(lagsMs)
  print('### from a call’s last byte to its row on the live socket, at 500 calls/s\n')
  print(
    `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${lagsMs.length} rows, ${missing} missing`,
  )
}

async function interleave(
  rig: BenchSetup,
  run: (name: Name) => Promise<LoadResult>,
  warmUpCalls = 1,
): Promise<Record<Name, Round[]>> {
  const rounds: Record<Name, Round[]> = { direct: [], 'bare proxy': [], tallygate: [] }
  // The warm-up is a number of calls, because a time would end before slow code is compiled.
  for (const name of NAMES) {
    for (let calls = 0; calls < warmUpCalls; ) calls += (await run(name)).count
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of NAMES) {
      const before = cpuOf(rig, name)
      const result = await run(name)
      const after = cpuOf(rig, name)
      const perCall = (part: keyof typeof before) =>
        ((after[part] - before[part]) * 1e6) / Math.max(1, result.count)
      rounds[name].push({
        ...result,
        cpuUs: perCall('target'),
        postgresUs: perCall('postgres'),
        readModelsUs: perCall('readModels'),
      })
    }
  }
  return rounds
}

const cpuOf = (rig: BenchSetup, name: Name) => ({
  target: cpuSeconds(rig.pids[name]),
  postgres: cpuSeconds(rig.pids.postgres),
  readModels: cpuSeconds(rig.pids.readModels),
})

const medianOf = (rounds: Round[]): number => quantiles(rounds.map(({ cpuUs }) => cpuUs)).p50

const bestOf = (rounds: Round[]): Round =>
  rounds.reduce((best, round) => (round.cpuUs < best.cpuUs ? round : best))

function chatBody(isStream: boolean): string {
  const text = 'Explain in plain words how a gateway accounts for every call that it relays. '
  return JSON.stringify({
    model: 'sim-small',
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: text.repeat(11) },
    ],
    temperature: 0.7,
    max_tokens: ANSWER_TOKENS,
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  })
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

await bench()
await measureWorkers(print)
