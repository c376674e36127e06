import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'

export type Owner = {
  readonly process: ChildProcess
  readonly pid: number
  readonly connectionString: string
  readonly postmaster: number
}

/**
 * Thrown when the process could not start. It contains the process's error output and exit status.
 */
export class OwnerFailed extends Error {
  readonly status: number | null
  constructor(words: string, status: number | null) {
    super(words)
    this.status = status
  }
}

/** Starts an embedded Postgres in a separate process that a test can kill. */
export async function startOwner(dataDir: string): Promise<Owner> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const exited = once(child, 'close').then(([status]) => {
    throw new OwnerFailed(errors, status)
  })
  const [line] = await Promise.race([once(child.stdout, 'data'), exited])
  exited.catch(() => {})
  const { connectionString, pid } = JSON.parse(String(line))
  return { process: child, pid: child.pid ?? 0, connectionString, postmaster: pid }
}

/** Ends the owner process and waits until it has exited. */
export async function endOwner(owner: Owner, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const isOver = once(owner.process, 'exit')
  owner.process.kill(signal)
  await isOver
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const log = pino({ level: 'silent' })
  const embedded = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? '', log })
  process.on('SIGTERM', () => void embedded.stop().then(() => process.exit(0)))
  const { connectionString, pid } = embedded
  process.stdout.write(`${JSON.stringify({ connectionString, pid })}\n`)
}
