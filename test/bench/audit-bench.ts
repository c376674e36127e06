import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { createLog } from '#infra/telemetry/log.ts'
import type { StepFigures } from './audit-step.ts'
import { cpuSeconds } from './pinned-processes.ts'

/**
 * Measures sealing, the export, the offline verification, the rebuild of all read models, and the
 * nightly comparison of rows if it compared all accounts, each in a process of its own. Prints
 * events per second, CPU µs per event of the process and of Postgres, and the highest memory of the
 * process. `EVENTS` (100000), `ACCOUNTS` (400) and `STEP_MS` (10, between two calls) set the
 * history: with more time between calls, sums by hour and day have more rows. `STEPS` names the
 * steps, separated by commas. With `FOLDER`, the history stays in that folder, so that steps of a
 * long history can be run one by one.
 */
const EVENTS = Number(process.env.EVENTS ?? 100_000)
const ACCOUNTS = Number(process.env.ACCOUNTS ?? 400)
const STEP_MS = Number(process.env.STEP_MS ?? 10)
const ALL_STEPS = 'append,seal,export,verify offline,rebuild all read models,compare accounts'
const STEPS = (process.env.STEPS ?? ALL_STEPS).split(',')
const { FOLDER } = process.env

const HISTORY = [EVENTS, ACCOUNTS, STEP_MS]
const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const load = (): string => loadavg()[0]?.toFixed(1) ?? ''

const dataDir = FOLDER ?? mkdtempSync(join(tmpdir(), 'audit-bench-'))
mkdirSync(dataDir, { recursive: true })
const embedded = await startEmbeddedPostgres({ dataDir, log: createLog('error') })
const environment = {
  ...process.env,
  DATABASE_URL: embedded.connectionString,
  SECRET_KEY: createHash('sha256').update('the key of this bench').digest('base64'),
  LOG_LEVEL: 'error',
}

async function run(step: string): Promise<void> {
  const folder = join(dataDir, 'export')
  const child = fork('test/bench/audit-step.ts', [step, folder, ...HISTORY.map(String)], {
    env: environment,
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const [before, loadBefore] = [cpuSeconds(embedded.pid), load()]
  const ended = once(child, 'exit')
  const answer = await Promise.race([once(child, 'message'), ended.then(() => [null])])
  const [figures] = answer as [StepFigures | null]
  await ended
  if (figures === null) throw new Error(`the step "${step}" failed`)
  const postgres = ((cpuSeconds(embedded.pid) - before) / EVENTS) * 1e6
  const { seconds, cpuSeconds: own, megabytesMax } = figures
  const cells = [step, seconds.toFixed(1), Math.round(EVENTS / seconds).toLocaleString('en-US')]
  cells.push(((own / EVENTS) * 1e6).toFixed(1), postgres.toFixed(1), megabytesMax.toFixed(0))
  print(`| ${[...cells, `${loadBefore} to ${load()}`].join(' | ')} |`)
}

try {
  print(`${EVENTS} events of ${ACCOUNTS} accounts, ${cpus().length} cores\n`)
  print('| step | s | events/s | Node µs/event | Postgres µs/event | MB at most | load |')
  print('|---|---|---|---|---|---|---|')
  for (const step of STEPS) await run(step)
} finally {
  await embedded.stop()
  if (FOLDER === undefined) rmSync(dataDir, { recursive: true, force: true })
}
process.exit(0)
