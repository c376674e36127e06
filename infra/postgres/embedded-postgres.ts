import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { NEVER } from '../reject-on-abort.ts'
import { lockDataFolder } from './data-folder-lock.ts'
import { type Cluster, openCluster, runAsFor, USER } from './embedded-database-folder.ts'
import { nativeBinaries } from './native-binaries.ts'
import { stopOrphans } from './orphaned-servers.ts'
import {
  PortTaken,
  type ServerProcess,
  type ServerSettings,
  startServer,
} from './server-process.ts'

export type EmbeddedPostgres = {
  readonly connectionString: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/**
 * Runs an embedded Postgres in `dataDir`, on a free port of 127.0.0.1. A server that dies is
 * restarted on the same port. A server that a killed process left running is stopped first.
 *
 * `durable: false` is only for tests, because a crash may lose commits. Throws `DataFolderInUse` if
 * another process uses `dataDir`.
 */
export async function startEmbeddedPostgres({
  dataDir,
  log,
  durable = true,
  workers = 1,
  signal = NEVER,
}: {
  readonly dataDir: string
  readonly log: Logger
  readonly durable?: boolean
  /** The number of processes that accept requests. Each has its own database connections. */
  readonly workers?: number
  /** When this signal aborts, the start ends and throws the signal's reason. */
  readonly signal?: AbortSignal
}): Promise<EmbeddedPostgres> {
  const lock = lockDataFolder(dataDir)
  try {
    const runAs = runAsFor(dataDir)
    const native = await nativeBinaries(runAs)
    const cluster = await openCluster(dataDir, native, runAs, durable)
    await stopOrphans(cluster, log)
    signal.throwIfAborted()
    const settings = { durable, connections: connectionsFor(workers) }
    const { server, port } = await startOnFreePort(cluster, native, settings, log, signal)
    const start = () => startServer(cluster, native, port, settings, log, NEVER)
    const supervised = supervise(server, start, cluster, log)
    return {
      connectionString: `postgres://${USER}:${cluster.password}@127.0.0.1:${port}/postgres`,
      get pid() {
        return supervised.pid()
      },
      stop: async () => {
        await supervised.stop()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

const CONNECTIONS_MIN = 450
/** The maximum number of database connections of one process. */
const CONNECTIONS_EACH = 40

/**
 * Returns the number of connections that the primary process, its workers and some operators need.
 */
const connectionsFor = (workers: number): number =>
  Math.max(CONNECTIONS_MIN, 50 + CONNECTIONS_EACH * (workers + 1))

async function startOnFreePort(
  cluster: Cluster,
  native: string,
  settings: ServerSettings,
  log: Logger,
  signal: AbortSignal,
) {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort()
    try {
      return { server: await startServer(cluster, native, port, settings, log, signal), port }
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === 5) throw error
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = address !== null && typeof address === 'object' ? address.port : 0
      probe.close(() => resolve(port))
    })
  })
}

function supervise(
  first: ServerProcess,
  start: () => Promise<ServerProcess>,
  cluster: Cluster,
  log: Logger,
): { pid: () => number; stop: () => Promise<void> } {
  let server = first
  let isStopping = false
  const restart = async (): Promise<void> => {
    for (let pauseMs = 50; !isStopping; pauseMs = Math.min(pauseMs * 2, 5_000)) {
      try {
        await stopOrphans(cluster, log)
        server = await start()
        log.warn({ pid: server.pid }, 'Postgres is running again')
        return
      } catch (error) {
        log.error({ reason: (error as Error).message }, 'Postgres could not be restarted')
        await delay(pauseMs)
      }
    }
  }
  const watch = async (): Promise<void> => {
    for (;;) {
      await server.ended
      if (isStopping) return
      log.error({ pid: server.pid }, 'Postgres died and is being restarted')
      await restart()
    }
  }
  const watching = watch()
  return {
    pid: () => server.pid,
    stop: async () => {
      isStopping = true
      await server.stop()
      await watching
      await server.stop()
    },
  }
}
