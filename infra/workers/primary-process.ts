import { once } from 'node:events'
import { createServer } from 'node:net'
import { Pool } from 'pg'
import type { Config, Role } from '../config/config-types.ts'
import { loadSecretKey } from '../config/secret-key.ts'
import { ensureConsoleBuilt } from '../http/build-console-if-changed.ts'
import { endAllLeases } from '../leases/exclusive-leases.ts'
import { startEmbeddedPostgres } from '../postgres/embedded-postgres.ts'
import { surviveLostConnections } from '../postgres/pools.ts'
import { abortable } from '../reject-on-abort.ts'
import { type PrintLine, type Started, startWithoutListener } from '../start.ts'
import { createLog } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { startWorkers } from './start-worker-processes.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Starts `config.relayWorkers` worker processes on one port. The calling process is the primary.
 * The primary runs what must exist only once: the embedded Postgres and the projections. If the
 * start fails or `signal` aborts, ends every process that it started and throws.
 */
export async function startWithWorkers(
  config: Config,
  environment: Environment,
  printLine: PrintLine,
  signal: AbortSignal,
): Promise<Started> {
  const log = createLog(config.logLevel)
  const closers: (() => Promise<unknown>)[] = []
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const secretKey = loadSecretKey(config)
    const databaseUrl = config.databaseUrl ?? (await startDatabase(config, log, closers, signal))
    const roles = (isPrimarys: boolean): Role[] =>
      [...config.roles].filter((role) => (role === 'projections') === isPrimarys)
    const own = { ...config, databaseUrl, secretKey, roles: new Set(roles(true)) }
    const product = await startWithoutListener(own, signal)
    closers.push(() => product.stop(0))
    if (config.roles.has('console')) await abortable(ensureConsoleBuilt(printLine), signal)
    const { core, projections } = product
    const registry = createMetrics({
      callsInFlight: () => 0,
      eventsHead: () => core.store.headPosition(),
      projectionPositions: () => projections?.positions() ?? new Map(),
      areLimitsDegraded: () => core.limits.isDegraded(),
      isBusDegraded: () => core.bus.isDegraded(),
      busError: () => core.bus.operatorError(),
    })
    const port = config.port === 0 ? await freePort(config.host) : config.port
    const workers = await startWorkers({
      count: config.relayWorkers,
      port,
      host: config.host,
      environment: {
        ...environment,
        DATABASE_URL: databaseUrl,
        SECRET_KEY: Buffer.from(secretKey).toString('base64'),
        ROLES: roles(false).join(','),
        PORT: String(port),
      },
      log,
      signal,
      printLine: (line) => printLine(line, 'ready'),
      ownMetrics: () => registry.getMetricsAsJSON(),
    })
    return {
      url: workers.url,
      hurry: (graceMs) => void workers.drain(graceMs),
      stop: async (graceMs) => {
        await workers.drain(graceMs)
        await closeAll()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function startDatabase(
  { dataDir, relayWorkers: workers }: Config,
  log: ReturnType<typeof createLog>,
  closers: (() => Promise<unknown>)[],
  signal: AbortSignal,
): Promise<string> {
  const { connectionString, stop } = await startEmbeddedPostgres({
    dataDir,
    log,
    workers,
    signal,
  })
  closers.push(stop)
  // All leases end, because they belong to processes of the previous start. No other process uses
  // this Postgres.
  const pg = new Pool({ connectionString, max: 1 })
  surviveLostConnections(pg, () => {})
  await endAllLeases(pg)
  await pg.end()
  return connectionString
}

/**
 * Returns a free port. The port must be known before the workers start, because each worker rejects
 * channels that point to the product itself.
 */
async function freePort(host: string): Promise<number> {
  const server = createServer()
  await once(server.listen(0, host), 'listening')
  const address = server.address()
  await new Promise((closed) => server.close(closed))
  return address !== null && typeof address === 'object' ? address.port : 0
}
