import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Cluster } from './embedded-database-folder.ts'
import { runCommand } from './run-command.ts'

const STOP_WITHIN_MS = 5_000

/**
 * Ends the Postgres processes of this cluster that a killed process left running: first the
 * postmaster, then all others, including suspended processes. The caller must hold the lock on the
 * data folder, so that no other process uses the cluster.
 */
export async function stopOrphans(cluster: Cluster, log: Logger): Promise<void> {
  const pidFile = join(cluster.folder, 'postmaster.pid')
  const postmaster = recordedPid(pidFile)
  let left = await orphansOf(cluster)
  if (left.length > 0)
    log.warn({ pids: left }, 'stopping a Postgres that a killed process left behind')
  if (postmaster !== null && left.includes(postmaster)) {
    signal(postmaster, 'SIGINT')
    left = await waitForEnd(cluster)
  }
  while (left.length > 0) {
    for (const pid of left) signal(pid, 'SIGKILL')
    await delay(20)
    left = await orphansOf(cluster)
  }
  // NOTE: the pid file is removed, because Postgres refuses to start if an unrelated process now
  // has the recorded pid.
  rmSync(pidFile, { force: true })
}

function recordedPid(pidFile: string): number | null {
  try {
    return Number.parseInt(readFileSync(pidFile, 'utf8'), 10) || null
  } catch {
    return null
  }
}

async function waitForEnd(cluster: Cluster): Promise<number[]> {
  const deadline = performance.now() + STOP_WITHIN_MS
  let left = await orphansOf(cluster)
  while (left.length > 0 && performance.now() < deadline) {
    await delay(20)
    left = await orphansOf(cluster)
  }
  return left
}

/**
 * Returns the pids of the processes that use the cluster's folder. The name of the cluster is not
 * enough to find them. A copy of a data folder, such as a backup, has the name of the original, and
 * the original's server may be running. On systems other than Linux, the folder of a process is
 * unknown, so only the name is compared.
 */
async function orphansOf({ name, folder }: Cluster): Promise<number[]> {
  const named = await processesOf(name)
  return process.platform === 'linux' ? named.filter((pid) => runsIn(pid, folder)) : named
}

/**
 * Reports whether a process works in this folder. Every process of a Postgres server works in the
 * server's data folder.
 */
function runsIn(pid: number, folder: string): boolean {
  try {
    const [used, own] = [statSync(`/proc/${pid}/cwd`), statSync(folder)]
    return used.ino === own.ino && used.dev === own.dev
  } catch {
    // The process has ended, so it does not work in the folder.
    return false
  }
}

/** Returns the pids of processes with the cluster's name in their command line or title. */
export async function processesOf(name: string): Promise<number[]> {
  const all = process.platform === 'linux' ? titlesFromProc() : await titlesFromPs()
  const isOurs = (title: string): boolean =>
    title.includes(`cluster_name=${name}`) || title.startsWith(`postgres: ${name}: `)
  return all.filter(({ title }) => isOurs(title)).map(({ pid }) => pid)
}

type TitledProcess = { readonly pid: number; readonly title: string }

function titlesFromProc(): TitledProcess[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return []
    try {
      return [{ pid: Number(entry), title: readFileSync(`/proc/${entry}/cmdline`, 'utf8') }]
    } catch {
      return []
    }
  })
}

async function titlesFromPs(): Promise<TitledProcess[]> {
  const { output } = await runCommand('ps', ['-axo', 'pid=,args='], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return output.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(.*)$/.exec(line)
    return match === null ? [] : [{ pid: Number(match[1]), title: match[2] ?? '' }]
  })
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}
