import { setTimeout as delay } from 'node:timers/promises'
import { processesOf } from '#infra/postgres/orphaned-servers.ts'

/**
 * Kills a Postgres cluster repeatedly. It is a separate process, so that the kill can happen at any
 * moment of an append. It suspends all processes of the cluster before killing them, so that they
 * can't fork meanwhile, and waits until the cluster runs again.
 *
 * Parameters: the cluster's name, the number of kills.
 */
const [name = '', kills = '0'] = process.argv.slice(2)
const PROCESSES_OF_A_RUNNING_SERVER = 8

const signalAll = (pids: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has already ended.
    }
  }
}

for (let kill = 0; kill < Number(kills); kill += 1) {
  while ((await processesOf(name)).length < PROCESSES_OF_A_RUNNING_SERVER) await delay(50)
  // The kill happens under load at a random time.
  await delay(200 + Math.random() * 300)
  const pids = await processesOf(name)
  signalAll(pids, 'SIGSTOP')
  signalAll(pids, 'SIGKILL')
  process.stdout.write('killed\n')
}
