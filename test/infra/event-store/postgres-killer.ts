import { setTimeout as delay } from 'node:timers/promises'
import { processesOf } from '#infra/postgres/orphaned-servers.ts'

/**
 * Kills a Postgres cluster repeatedly. A separate process can kill at any moment of an append. All
 * processes of the cluster are suspended first, so that they can't fork meanwhile.
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
