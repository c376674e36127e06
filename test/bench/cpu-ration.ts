import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PERIOD_US = 20_000

export type Ration = { readonly end: () => void }

/**
 * Gives each process a processor of its own that is `cores` as fast as one of this machine, by a
 * control group of each; null where none may be made (Linux, as root, cgroup v1 or v2).
 */
export function rationEach(pids: readonly number[], cores: number): Ration | null {
  const groups: string[] = []
  const end = (): void => {
    for (const group of groups) release(group)
  }
  try {
    for (const pid of pids) groups.push(rationed(pid, Math.round(PERIOD_US * cores)))
    return { end }
  } catch {
    end()
    return null
  }
}

const V1 = '/sys/fs/cgroup/cpu'
const V2 = '/sys/fs/cgroup'
const isV1 = existsSync(join(V1, 'cgroup.procs'))
const root = isV1 ? V1 : V2

function rationed(pid: number, quotaUs: number): string {
  const group = join(root, `tallygate-bench-${pid}`)
  mkdirSync(group)
  const write = (file: string, text: string): void => writeFileSync(join(group, file), text)
  try {
    if (isV1) {
      write('cpu.cfs_period_us', String(PERIOD_US))
      write('cpu.cfs_quota_us', String(quotaUs))
    } else {
      write('cpu.max', `${quotaUs} ${PERIOD_US}`)
    }
    write('cgroup.procs', String(pid))
    return group
  } catch (error) {
    rmdirSync(group)
    throw error
  }
}

/** Its process goes back to all cores; a group is gone once it is empty. */
function release(group: string): void {
  const pid = group.slice(group.lastIndexOf('-') + 1)
  try {
    writeFileSync(join(root, 'cgroup.procs'), pid)
  } catch {
    // It ended meanwhile.
  }
  rmdirSync(group)
}
