import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PERIOD_US = 20_000

export type CpuLimit = { readonly end: () => void }

/**
 * Limits each process to a number of cores, such as 0.4. Returns null without control groups, which
 * need Linux, root, and cgroup v1 or v2.
 */
export function limitCpuOfEach(pids: readonly number[], cores: number): CpuLimit | null {
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

/** The process must leave its control group first, because only an empty group can be removed. */
function release(group: string): void {
  const pid = group.slice(group.lastIndexOf('-') + 1)
  try {
    writeFileSync(join(root, 'cgroup.procs'), pid)
  } catch {
    // The process has ended.
  }
  rmdirSync(group)
}
