import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { openLoop } from './apply-load.ts'
import { type BenchSetup, startBenchSetup } from './bench-setup.ts'
import { cpuSeconds } from './pinned-processes.ts'

/**
 * Measures what sealing costs: CPU µs per call of the relay, of Postgres, of the read models and of
 * the sealer, which is a separate process here, in turns without and with sealing. Also prints by
 * how much the CPU of the sealer and of its database sessions differs between these turns, because
 * the sum of all processes varies more from run to run than sealing costs. Parameters: seconds of a
 * turn (60), calls per second (100), pairs of turns (2).
 */
const SECONDS = Number(process.argv[2] ?? 60)
const RATE = Number(process.argv[3] ?? 100)
const PAIRS = Number(process.argv[4] ?? 2)
const SESSIONS = 'bench-sealer'

const BODY = JSON.stringify({
  model: 'sim-small',
  messages: [{ role: 'user', content: 'How does a gateway account for a call? '.repeat(25) }],
  max_tokens: 20,
})

/** CPU seconds, and the number of calls. The sessions of the sealer are a part of Postgres. */
type Cost = Record<'relay' | 'postgres' | 'readModels' | 'sealer' | 'sessions' | 'calls', number>
type Parts = Omit<Cost, 'calls'>
const PARTS = ['relay', 'postgres', 'readModels', 'sealer'] as const

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

async function startSealerProcess(url: string, secretKey: string): Promise<ChildProcess> {
  const child = fork('test/bench/sealer-process.ts', {
    env: {
      ...process.env,
      DATABASE_URL: `${url}${url.includes('?') ? '&' : '?'}application_name=${SESSIONS}`,
      ...{ SECRET_KEY: secretKey, LOG_LEVEL: 'error' },
    },
  })
  process.once('exit', () => child.kill('SIGKILL'))
  await once(child, 'message')
  return child
}

async function tell(child: ChildProcess, message: 'seal' | 'rest'): Promise<void> {
  child.send(message)
  await once(child, 'message')
}

async function waitUntilSealed(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ behind: number }>(`select (h.position -
      coalesce((select last_position from transparency_log.log), 0))::float8 as behind
      from event_store.head h`)
    if ((rows[0]?.behind ?? 0) === 0) return
    await delay(500)
  }
}

/** Returns the CPU seconds of the database sessions of the sealer. */
async function sessionSeconds(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where application_name = $1',
    [SESSIONS],
  )
  return rows.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0)
}

type Bench = { readonly rig: BenchSetup; readonly sealer: ChildProcess; readonly client: Client }

async function measure({ rig, sealer, client }: Bench, isSealing: boolean): Promise<Cost> {
  const { pids, targets } = rig
  const read = async (): Promise<Parts> => ({
    ...{ relay: cpuSeconds(pids.tallygate), postgres: cpuSeconds(pids.postgres) },
    ...{ readModels: cpuSeconds(pids.readModels), sealer: cpuSeconds(sealer.pid ?? 0) },
    sessions: await sessionSeconds(client),
  })
  if (isSealing) await tell(sealer, 'seal')
  const before = await read()
  const { count, errors } = await openLoop(targets.tallygate, BODY, {
    rate: RATE,
    seconds: SECONDS,
  })
  if (isSealing) await waitUntilSealed(client)
  const after = await read()
  if (isSealing) await tell(sealer, 'rest')
  if (errors > 0) print(`${errors} calls failed`)
  const used = (name: keyof Parts) => after[name] - before[name]
  return {
    ...{ relay: used('relay'), postgres: used('postgres'), readModels: used('readModels') },
    ...{ sealer: used('sealer'), sessions: used('sessions'), calls: count },
  }
}

async function run(bench: Bench): Promise<void> {
  const sums = { on: zero(), off: zero() }
  print(`${RATE} calls/s for ${SECONDS} s per turn, ${cpus().length} cores, load ${load()}\n`)
  print('| sealing | calls | relay | Postgres | read models | sealer | all, µs per call |')
  print('|---|---|---|---|---|---|---|')
  for (let turn = 0; turn < PAIRS * 2; turn += 1) {
    // The order of a pair changes with each pair, so that a trend favours neither.
    const isSealing = turn % 4 === 1 || turn % 4 === 2
    // What was written without sealing is sealed before it is measured.
    await tell(bench.sealer, 'seal')
    await waitUntilSealed(bench.client)
    await tell(bench.sealer, 'rest')
    const cost = await measure(bench, isSealing)
    const sum = isSealing ? sums.on : sums.off
    for (const name of [...PARTS, 'sessions', 'calls'] as const) sum[name] += cost[name]
    print(rowOf(isSealing ? 'on' : 'off', cost))
  }
  print(rowOf('on, all turns', sums.on))
  print(rowOf('off, all turns', sums.off))
  const [on, off] = [perCall(sums.on), perCall(sums.off)]
  const ownPerCall = ({ sealer, sessions, calls }: Cost) => ((sealer + sessions) / calls) * 1e6
  const own = ownPerCall(sums.on) - ownPerCall(sums.off)
  const relay = (sums.off.relay / sums.off.calls) * 1e6
  print(`\nwith sealing: ${(on / off).toFixed(3)} × without, all processes`)
  const shares = [own / relay, own / off].map((share) => `${(share * 100).toFixed(2)} %`)
  print(`the sealer and its sessions alone: ${own.toFixed(1)} µs per call,`)
  print(`${shares[0]} of the relay's CPU, ${shares[1]} of the CPU of all processes; load ${load()}`)
}

const zero = (): Cost => ({
  ...{ relay: 0, postgres: 0, readModels: 0, sealer: 0, sessions: 0, calls: 0 },
})
const load = (): string => loadavg()[0]?.toFixed(1) ?? ''
const perCall = (cost: Cost): number =>
  (PARTS.reduce((sum, name) => sum + cost[name], 0) / cost.calls) * 1e6

function rowOf(name: string, cost: Cost): string {
  const parts = PARTS.map((part) => ((cost[part] / cost.calls) * 1e6).toFixed(0))
  return `| ${[name, cost.calls, ...parts, perCall(cost).toFixed(0)].join(' | ')} |`
}

const rig = await startBenchSetup()
const client = new Client({ connectionString: rig.databaseUrl })
try {
  rig.releaseCores()
  await client.connect()
  await client.query(`update leases.leases
    set owner = 'bench', fence = fence + 1, expires_at = 'infinity'
    where name = 'transparency-log'`)
  const sealer = await startSealerProcess(rig.databaseUrl, rig.secretKey)
  await openLoop(rig.targets.tallygate, BODY, { rate: RATE, seconds: 10 })
  await run({ rig, sealer, client })
  sealer.kill('SIGKILL')
} finally {
  await client.end().catch(() => {})
  await rig.stop()
  rmSync(rig.folder, { recursive: true, force: true })
}
process.exit(0)
