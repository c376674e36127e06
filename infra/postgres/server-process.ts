import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { abortable } from '../reject-on-abort.ts'
import { type Cluster, ownFolder } from './embedded-database-folder.ts'
import { cleanEnvironment } from './run-command.ts'

const READY_WITHIN_MS = 120_000
const STOP_WITHIN_MS = 15_000

export type ServerProcess = {
  readonly pid: number
  readonly ended: Promise<void>
  readonly stop: () => Promise<void>
}

export type ServerSettings = {
  /** False only in tests: commits may then be lost in a crash. */
  readonly durable: boolean
  readonly connections: number
}

/** Thrown if another program has taken the port since it was found free. */
export class PortTaken extends Error {}

/** Starts Postgres on 127.0.0.1. When the start fails, no server process is left running. */
export async function startServer(
  cluster: Cluster,
  native: string,
  port: number,
  settings: ServerSettings,
  log: Logger,
  signal: AbortSignal,
): Promise<ServerProcess> {
  const child = spawn(join(native, 'bin', 'postgres'), parametersOf(cluster, port, settings), {
    ...cluster.runAs,
    cwd: cluster.folder,
    env: cleanEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    // With a separate process group, Ctrl-C does not stop the server while this process drains.
    detached: true,
  })
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => resolve())
    child.on('error', () => resolve())
  })
  const stopOnExit = (): void => void child.kill('SIGINT')
  process.on('exit', stopOnExit)
  void ended.then(() => process.off('exit', stopOnExit))
  try {
    await abortable(untilReady(child, log), signal)
  } catch (error) {
    await stopServer(child, ended)
    throw error
  }
  return { pid: child.pid ?? 0, ended, stop: () => stopServer(child, ended) }
}

function parametersOf(
  cluster: Cluster,
  port: number,
  { durable, connections }: ServerSettings,
): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    cluster_name: cluster.name,
    max_connections: String(connections),
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    jit: 'off',
    timezone: 'UTC',
    // Statements may contain confidential data, so their errors are not logged.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    log_line_prefix: '',
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', ownFolder(cluster), ...flags]
}

function untilReady(child: ChildProcess, log: Logger): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    const fail = (why: string): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      const message = `the embedded Postgres did not start: ${why}\n${output.trim()}`
      reject(/Address already in use/.test(output) ? new PortTaken(message) : new Error(message))
    }
    const timer = setTimeout(() => fail('it is not ready in time'), READY_WITHIN_MS)
    child.on('error', (error) => fail(error.message))
    child.on('exit', (status, name) => fail(`it ended (${name ?? `status ${status}`})`))
    let rest = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (output.length < 8_000) output += `${line}\n`
        report(line, log)
        if (line.includes('ready to accept connections')) {
          clearTimeout(timer)
          resolve()
        }
      }
    })
  })
}

function report(line: string, log: Logger): void {
  // While the server recovers, each connection attempt causes a FATAL line. These lines are
  // expected and not logged as warnings.
  const isEarly = /starting up|not yet accepting connections/.test(line)
  if (/^(PANIC|FATAL):/.test(line) && !isEarly) log.warn({ postgres: line }, 'from Postgres')
  else log.debug({ postgres: line }, 'from Postgres')
}

/**
 * Stops the server with a fast shutdown. If the server does not end in time, it is killed, and
 * recovers from its write-ahead log at the next start.
 */
async function stopServer(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
  await ended
  clearTimeout(timer)
  if (child.stderr && !child.stderr.closed) await once(child.stderr, 'close').catch(() => {})
}
