import { type Config, usesWorkers } from './config/config-types.ts'
import { readConfig } from './config/read-config.ts'
import { loadSecretKey } from './config/secret-key.ts'
import { assertPortFree } from './http-listener.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './postgres/embedded-postgres.ts'
import type { PrintLine, Started } from './start.ts'
import { describeStartError } from './start-error.ts'
import { stopOnSignals } from './stop-on-signals.ts'
import { createLog } from './telemetry/log.ts'

/**
 * Starts the product as `npm start` does, and stops it on a signal (see `stopOnSignals`). With
 * `isSeeded`, the set-up instructions are not printed, because the caller sets up the site. Returns
 * null if the start was aborted or failed.
 */
export async function runProduct(
  environment: NodeJS.ProcessEnv,
  isSeeded = false,
): Promise<Started | null> {
  const linesWhenReady: string[] = []
  const print = (line: string) => process.stdout.write(`${line}\n`)
  const printLine: PrintLine = (line, when) =>
    when === 'ready' ? linesWhenReady.push(line) : print(line)
  const aborting = new AbortController()
  try {
    const config = readConfig(environment)
    const starting = start(config, environment, printLine, aborting.signal)
    stopOnSignals(starting, aborting)
    const running = await starting
    print(`Tallygate is ready: ${running.url}`)
    if (!isSeeded) for (const line of linesWhenReady) print(line.replace('{url}', running.url))
    return running
  } catch (error) {
    if (aborting.signal.aborted) return null
    process.stderr.write(`${describeStartError(error)}\n`)
    process.exitCode = 1
    return null
  }
}

async function start(
  config: Config,
  environment: NodeJS.ProcessEnv,
  printLine: PrintLine,
  signal: AbortSignal,
): Promise<Started> {
  await assertPortFree(config)
  if (usesWorkers(config)) {
    const { startWithWorkers } = await import('./workers/primary-process.ts')
    return await startWithWorkers(config, environment, printLine, signal)
  }
  // Postgres starts while the rest of the code is loaded. Both take about the same time.
  const database = config.databaseUrl === null ? beginDatabase(config, signal) : null
  const { startProduct } = await import('./start.ts')
  return await startProduct(config, printLine, { signal, database })
}

function beginDatabase(config: Config, signal: AbortSignal): Promise<EmbeddedPostgres> {
  loadSecretKey(config)
  const { dataDir, logLevel } = config
  const starting = startEmbeddedPostgres({ dataDir, log: createLog(logLevel), signal })
  // The rejection is ignored here, because `startProduct` reports the error.
  starting.catch(() => {})
  return starting
}
