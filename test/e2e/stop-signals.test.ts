import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { killTree, treeOf } from '../support/process-tree.ts'

/** A command in a separate process group, as a terminal starts it. `said` returns its output. */
type Started = { readonly child: ChildProcess; readonly pid: number; readonly said: () => string }

const started: Started[] = []
const folders: string[] = []
afterEach(() => {
  for (const { pid } of started.splice(0)) killTree(pid)
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** `log` is the destination of standard error. By default, it is added to `said`. */
function start(
  command: readonly string[],
  environment: Record<string, string>,
  log: number | 'pipe' = 'pipe',
): Started {
  const { DATABASE_URL: _database, SECRET_KEY: _key, ...inherited } = process.env
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-signals-'))
  folders.push(dataDir)
  const [program = '', ...parameters] = command
  const child = spawn(program, parameters, {
    env: { ...inherited, LOG_LEVEL: 'debug', PORT: '0', DATA_DIR: dataDir, ...environment },
    stdio: ['ignore', 'pipe', log],
    detached: true,
  })
  let said = ''
  const listen = (bytes: Buffer): void => {
    said += bytes
  }
  child.stdout?.on('data', listen)
  child.stderr?.on('data', listen)
  const its = { child, pid: child.pid ?? 0, said: () => said }
  started.push(its)
  return its
}

/** Returns null if the process has ended, even if its exit code has not been read yet. */
function commandOf(pid: number): string | null {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return command === '' ? null : command
  } catch {
    return null
  }
}

const commandsOf = (pids: readonly number[]) =>
  pids.map(commandOf).filter((command) => command !== null)

const until = (isSo: () => boolean) =>
  expect.poll(isSo, { timeout: 60_000, interval: 25 }).toBe(true)

const READY = /Tallygate is ready: http:\/\/127\.0\.0\.1:(\d+)/

it.each([
  ['SIGTERM to npm', (pid: number) => process.kill(pid, 'SIGTERM')],
  ['Ctrl-C, which all of the terminal hears,', (pid: number) => process.kill(-pid, 'SIGINT')],
  // npm ends immediately, so the processes that it started no longer have a parent.
  ['a terminal that closes', (pid: number) => process.kill(-pid, 'SIGHUP')],
])(
  '%s ends the product and its Postgres',
  async (_name, signal) => {
    const { child, pid, said } = start(['npm', 'start'], { ROLES: 'write-api,projections' })
    await until(() => READY.test(said()))
    const all = treeOf(pid)
    expect(commandsOf(all).join('\n')).toMatch(/node .*infra\/main\.ts[\s\S]*postgres/)
    const ended = once(child, 'exit')
    signal(pid)
    await ended
    await expect.poll(() => commandsOf(all)).toEqual([])
  },
  90_000,
)

it.each(['1', '2'])(
  'SIGHUP ends all of %s workers with 0 even if the log cannot be written',
  async (workers) => {
    const command = [process.execPath, 'infra/main.ts']
    const environment = { ROLES: 'write-api,projections', RELAY_WORKERS: workers }
    const { child, pid, said } = start(command, environment, openSync('/dev/full', 'w'))
    await until(() => READY.test(said()))
    const all = treeOf(pid)
    const ended = once(child, 'exit')
    process.kill(-pid, 'SIGHUP')
    expect(await ended).toEqual([0, null])
    await expect.poll(() => commandsOf(all)).toEqual([])
  },
  90_000,
)

// A single relay waits for read models that no process creates, so its start never ends by itself.
it.each([
  ['Postgres is installed', {}, /initdb/, /^/],
  ['Postgres starts', {}, /bin\/postgres -D/, /^/],
  ['it waits for read models', {}, /bin\/postgres -D/, /ready to accept connections/],
  ['workers start', { RELAY_WORKERS: '2' }, /worker-program/, /^/],
])(
  'a signal while %s ends all processes with 0',
  async (_moment, environment, running, heard) => {
    const { child, pid, said } = start([process.execPath, 'infra/main.ts'], {
      ROLES: 'relay',
      ...environment,
    })
    const tree = () => commandsOf(treeOf(pid)).join('\n')
    await until(() => running.test(tree()) && heard.test(said()))
    const all = treeOf(pid)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const [code] = await ended
    expect(code, said()).toBe(0)
    expect(said()).not.toMatch(READY)
    await expect.poll(() => commandsOf(all)).toEqual([])
  },
  90_000,
)

// A server that closes treats these connections as neither idle nor timed out.
it('a silent connection and half an upload delay the exit with 0 by seconds at most', async () => {
  const { child, pid, said } = start([process.execPath, 'infra/main.ts'], {
    ROLES: 'write-api,projections',
    HOST: '127.0.0.1',
  })
  await until(() => READY.test(said()))
  const all = treeOf(pid)
  const halfUpload = 'POST /api/setup HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{'
  const sockets = await Promise.all(
    ['', halfUpload].map(async (sent) => {
      const socket = connect(Number(READY.exec(said())?.[1]), '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      if (sent !== '') socket.write(sent)
      return socket
    }),
  )
  const ended = once(child, 'exit')
  const stoppedAt = performance.now()
  child.kill('SIGTERM')
  const [code] = await ended
  expect(code, said()).toBe(0)
  expect(performance.now() - stoppedAt).toBeLessThan(15_000)
  await expect.poll(() => commandsOf(all)).toEqual([])
  for (const socket of sockets) socket.destroy()
})
