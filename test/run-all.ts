import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

/** Run at once, because each needs one core. The tests start when all of them have passed. */
const CHECKS = ['typecheck', 'lint', 'build']
/**
 * Two runs at once. The first often waits for processes, brokers and leases, and the second for
 * cores: each of its workers uses one browser, and loads the product once. With a third run and
 * seven workers, the storm of calls got too little of two cores to be one.
 */
const TEST_RUNS = [
  ['servers', 'infra', 'e2e', 'chaos'],
  ['console', 'in-process'],
]

const ROOT = resolve(import.meta.dirname, '..')

/** A command that has ended: its exit code, and all that it printed. */
interface EndedCommand {
  code: number
  output: string
}

/** Runs a command until it ends. `write` gets the output as it comes. */
function run(command: readonly string[], write: (bytes: Buffer) => void): Promise<EndedCommand> {
  const [program = '', ...parameters] = command
  const colors = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}
  const printed: Buffer[] = []
  const print = (bytes: Buffer): void => {
    printed.push(bytes)
    write(bytes)
  }
  return new Promise((done, failed) => {
    const child = spawn(program, parameters, {
      cwd: ROOT,
      env: { ...process.env, ...colors, RUNS_ALL_TESTS: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.on('data', print)
    child.stderr.on('data', print)
    process.once('SIGTERM', () => child.kill())
    child.on('error', failed)
    child.on('close', (code) =>
      done({ code: code ?? 1, output: Buffer.concat(printed).toString('utf8') }),
    )
  })
}

/**
 * Returns the output of Vitest about the tests that failed: the headings ` FAIL ` with errors and
 * excerpts.
 */
function failuresIn(output: string): string {
  const start = output.search(/^.*Failed (Suites|Tests) \d/m)
  return start < 0 ? '' : output.slice(start)
}

/**
 * Runs commands at once, and returns how they ended. The output of a command is printed when the
 * earlier commands have ended, so that the outputs do not mix.
 */
async function runAll(commands: readonly (readonly string[])[]): Promise<EndedCommand[]> {
  let before = Promise.resolve()
  const ends = commands.map((command) => {
    const held: Buffer[] = []
    let write = (bytes: Buffer): void => void held.push(bytes)
    const end = run(command, (bytes) => write(bytes))
    const isNext = before.then(() => {
      write = (bytes) => void process.stdout.write(bytes)
      for (const bytes of held) write(bytes)
    })
    before = Promise.all([isNext, end]).then(() => {})
    return end
  })
  await before
  return Promise.all(ends)
}

const startedAt = Date.now()
const checks = await runAll(CHECKS.map((script) => ['npm', 'run', '--silent', script]))
const failed = CHECKS.filter((_, index) => checks[index]?.code !== 0)
if (failed.length > 0) {
  process.stdout.write(`failed: ${failed.join(', ')}\n`)
  process.exit(1)
}
const runs = await runAll(
  TEST_RUNS.map((projects) => [
    resolve(ROOT, 'node_modules/.bin/vitest'),
    ...['run', '--maxWorkers', '2', ...projects.flatMap((project) => ['--project', project])],
  ]),
)
const failedRuns = runs.filter((run) => run.code !== 0)
const failedProjects = TEST_RUNS.filter((_, index) => runs[index]?.code !== 0).flat()
// The output of another run may stand between these and the end, which is read first.
for (const run of failedRuns) process.stdout.write(failuresIn(run.output))
const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1)
const outcome = failedRuns.length === 0 ? 'all passed' : `failed: ${failedProjects.join(', ')}`
process.stdout.write(`${outcome} (${minutes} minutes)\n`)
process.exitCode = failedRuns.length === 0 ? 0 : 1
