import { existsSync } from 'node:fs'
import { readConfig } from './config/read-config.ts'
import { explainStart } from './explain-start.ts'
import { type Started, startProduct, type Tell } from './start.ts'
import { startWithWorkers, wantsWorkers } from './workers/primary.ts'

const DRAIN_MS = 120_000
const HURRIED_DRAIN_MS = 10_000

/**
 * Starts the product from the environment and stops it on a signal. The command `npm start`.
 * `isFurnished`: whoever calls sets the site up, so that nobody needs to be told how.
 */
export async function main(
  environment: NodeJS.ProcessEnv,
  isFurnished = false,
): Promise<Started | null> {
  const later: string[] = []
  const say = (line: string) => process.stdout.write(`${line}\n`)
  const tell: Tell = (line, when) => (when === 'ready' ? later.push(line) : say(line))
  try {
    const config = readConfig(environment)
    const running = wantsWorkers(config)
      ? await startWithWorkers(config, environment, tell)
      : await startProduct(config, tell)
    stopOnSignals(running)
    say(`Tallygate is ready: ${running.url}`)
    if (!isFurnished) for (const line of later) say(line.replace('{url}', running.url))
    return running
  } catch (error) {
    process.stderr.write(`${explainStart(error)}\n`)
    process.exitCode = 1
    return null
  }
}

function stopOnSignals(running: Started): void {
  let isStopping = false
  const stop = async (graceMs: number) => {
    if (isStopping) return running.hurry(HURRIED_DRAIN_MS)
    isStopping = true
    try {
      await running.stop(graceMs)
      process.exit(0)
    } catch (error) {
      process.stderr.write(`stopping failed: ${explainStart(error)}\n`)
      process.exit(1)
    }
  }
  process.on('SIGTERM', () => void stop(DRAIN_MS))
  process.on('SIGINT', () => void stop(HURRIED_DRAIN_MS))
}

if (import.meta.main) {
  if (existsSync('.env')) process.loadEnvFile('.env')
  await main(process.env)
}
