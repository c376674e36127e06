import { existsSync } from 'node:fs'
import type { Config } from './config/config.ts'
import { readConfig } from './config/read-config.ts'
import { explainStart } from './explain-start.ts'
import { refuseTakenPort } from './listening.ts'
import { type Started, startProduct, type Tell } from './start.ts'
import { stopOnSignals } from './stop-on-signals.ts'
import { startWithWorkers, wantsWorkers } from './workers/primary.ts'

/**
 * Starts the product from the environment and stops it on a signal, at any time from now on: the
 * exit code is 0 then. The command `npm start`.
 * `isSeeded`: whoever calls sets the site up, so that nobody needs to be told how.
 */
export async function main(
  environment: NodeJS.ProcessEnv,
  isSeeded = false,
): Promise<Started | null> {
  const later: string[] = []
  const say = (line: string) => process.stdout.write(`${line}\n`)
  const tell: Tell = (line, when) => (when === 'ready' ? later.push(line) : say(line))
  const aborting = new AbortController()
  try {
    const config = readConfig(environment)
    const starting = start(config, environment, tell, aborting.signal)
    stopOnSignals(starting, aborting)
    const running = await starting
    say(`Tallygate is ready: ${running.url}`)
    if (!isSeeded) for (const line of later) say(line.replace('{url}', running.url))
    return running
  } catch (error) {
    if (aborting.signal.aborted) return null
    process.stderr.write(`${explainStart(error)}\n`)
    process.exitCode = 1
    return null
  }
}

async function start(
  config: Config,
  environment: NodeJS.ProcessEnv,
  tell: Tell,
  signal: AbortSignal,
): Promise<Started> {
  await refuseTakenPort(config)
  return wantsWorkers(config)
    ? await startWithWorkers(config, environment, tell, signal)
    : await startProduct(config, tell, null, signal)
}

if (import.meta.main) {
  if (existsSync('.env')) process.loadEnvFile('.env')
  await main(process.env)
}
