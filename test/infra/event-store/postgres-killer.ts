import { setTimeout as delay } from 'node:timers/promises'
import { processesOf } from '#infra/postgres/orphans.ts'

/**
 * A process of its own, so that no append is at rest when it strikes. Stops all processes of the
 * cluster first, so that none is forked meanwhile, then kills them. Waits until it runs again.
 *
 * Parameters: the cluster's name, how many kills.
 */
const [name = '', kills = '0'] = process.argv.slice(2)
const PROCESSES_OF_A_RUNNING_SERVER = 8

const signalAll = (pids: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // Gone already.
    }
  }
}

for (let kill = 0; kill < Number(kills); kill += 1) {
  while ((await processesOf(name)).length < PROCESSES_OF_A_RUNNING_SERVER) await delay(50)
  // Into the load, at no particular moment.
  await delay(200 + Math.random() * 300)
  const pids = await processesOf(name)
  signalAll(pids, 'SIGSTOP')
  signalAll(pids, 'SIGKILL')
  process.stdout.write('killed\n')
}
