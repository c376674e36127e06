import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const BYTES_MIN = 6 * 1024 ** 3
const PREFIX = 'tallygate-run-'

/**
 * Creates the folder for all temporary data of a test run, which is the `TMPDIR` of its processes.
 * The folder is in memory if possible, because a run on a disk mostly waits for the databases'
 * syncs.
 */
export function createRunFolder(): string {
  const parent = hasRoomInMemory() ? MEMORY : tmpdir()
  removeLeftovers(parent)
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
  // Embedded databases run as another user, who must be able to enter the folder.
  chmodSync(folder, 0o755)
  return folder
}

export const isRunInMemory = (): boolean => tmpdir().startsWith(MEMORY)

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    const isLarge = Math.min(bavail * bsize, process.availableMemory()) >= BYTES_MIN
    return isLarge && !isNoExec()
  } catch {
    return false
  }
}

/**
 * Returns true if programs in the memory file system can't be executed. Tests run programs there.
 */
const isNoExec = (): boolean =>
  readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .some(([, place, , options = '']) => place === MEMORY && options.split(',').includes('noexec'))

/** Deletes the folders of killed test runs, which would fill the memory. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent).filter((name) => name.startsWith(PREFIX))) {
    const pid = Number.parseInt(name.slice(PREFIX.length), 10)
    if (!isRunning(pid)) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
