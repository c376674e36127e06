import { existsSync } from 'node:fs'
import { ConfigError } from './config/config-error.ts'
import { readConfig } from './config/read-config.ts'
import { type Running, startProduct } from './start.ts'

const DRAIN_MS = 120_000
const HURRIED_DRAIN_MS = 10_000

/** Starts the product from the environment and stops it on a signal. The command `npm start`. */
export async function main(environment: NodeJS.ProcessEnv): Promise<Running | null> {
  const tell = (line: string) => process.stdout.write(`${line}\n`)
  try {
    const config = readConfig(environment)
    const running = await startProduct(config, tell)
    stopOnSignals(running)
    tell(`Tallygate is ready: ${running.url}`)
    return running
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`)
    process.exitCode = 1
    return null
  }
}

/** One line for what an operator can mend; the whole error for what only we can. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `Tallygate can't start. PORT: another program listens there (${error.message})`
  }
  const isOperators = error instanceof ConfigError || 'isOperatorError' in error
  return isOperators ? `Tallygate can't start. ${error.message}` : (error.stack ?? error.message)
}

function stopOnSignals(running: Running): void {
  let isStopping = false
  const stop = async (graceMs: number) => {
    if (isStopping) return hurry(running)
    isStopping = true
    try {
      await running.stop(graceMs)
      process.exit(0)
    } catch (error) {
      process.stderr.write(`stopping failed: ${explain(error)}\n`)
      process.exit(1)
    }
  }
  process.on('SIGTERM', () => void stop(DRAIN_MS))
  process.on('SIGINT', () => void stop(HURRIED_DRAIN_MS))
}

function hurry(running: Running): void {
  void running.relay?.drain(HURRIED_DRAIN_MS)
}

if (import.meta.main) {
  if (existsSync('.env')) process.loadEnvFile('.env')
  await main(process.env)
}
