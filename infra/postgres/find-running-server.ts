import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { USER } from './database-cluster.ts'

/**
 * Returns the address of the embedded Postgres that another process runs in `dataDir`, or null if
 * none is running there. Only a user who can read the data folder can connect.
 */
export function runningServer(dataDir: string): string | null {
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  if (!existsSync(pidFile)) return null
  const [pid = '', , , port = ''] = readFileSync(pidFile, 'utf8').split('\n')
  if (!isRunning(Number(pid)) || !/^[1-9]\d*$/.test(port.trim())) return null
  const { password } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8'))
  return `postgres://${USER}:${password}@127.0.0.1:${port.trim()}/postgres`
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
