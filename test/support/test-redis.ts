import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A Redis without data. */
export type TestRedis = { readonly url: string; readonly stop: () => Promise<void> }

/** A Redis process that tests may kill or suspend. */
export type OwnRedis = TestRedis & {
  readonly port: number
  readonly kill: () => Promise<void>
  /** Restarts on the same port without data. */
  readonly restart: () => Promise<void>
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void
}

export type RedisEngine = 'redis-server' | 'docker' | 'REDIS_URL'

const answers = async (command: string, ...args: string[]): Promise<boolean> => {
  const ran = promisify(execFile)(command, args, { timeout: 5_000 })
  return ran.then(
    () => true,
    () => false,
  )
}

/** The best available Redis: `redis-server`, Docker, or the server at `REDIS_URL`. */
export const redisEngine: RedisEngine | null = (await answers('redis-server', '--version'))
  ? 'redis-server'
  : (await answers('docker', 'version'))
    ? 'docker'
    : process.env.REDIS_URL
      ? 'REDIS_URL'
      : null

/** Returns the part of a suite's title that says why the suite is skipped. */
export const skipReason = (isRunning: boolean): string =>
  isRunning ? '' : ' (skipped: neither redis-server nor Docker nor REDIS_URL is here)'

export async function startRedis(): Promise<TestRedis> {
  if (redisEngine === 'redis-server') return startOwnRedis()
  if (redisEngine === 'docker') return startContainer()
  const url = process.env.REDIS_URL
  if (url === undefined) throw new Error('there is no Redis for tests')
  return { url, stop: async () => {} }
}

/** `more` are additional arguments of `redis-server`, such as `--maxmemory 2mb`. */
export async function startOwnRedis(...more: string[]): Promise<OwnRedis> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'tallygate-redis-'))
  const start = async (): Promise<ChildProcess> => {
    const bound = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder]
    // Standard error is not inherited, because a server that outlives the run would keep its pipe
    // open.
    const server = spawn('redis-server', [...bound, '--save', '', ...more], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    process.once('exit', () => server.kill('SIGKILL'))
    for await (const chunk of server.stdout) {
      if (/Ready to accept connections/.test(String(chunk))) break
    }
    return server
  }
  let server = await start()
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill,
    restart: async () => {
      await kill()
      server = await start()
    },
    signal: (signal) => void server.kill(signal),
    stop: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startContainer(): Promise<TestRedis> {
  const { GenericContainer } = await import('testcontainers')
  const container = await new GenericContainer('redis:7').withExposedPorts(6379).start()
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    stop: async () => {
      await container.stop()
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
