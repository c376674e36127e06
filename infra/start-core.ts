import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from './config/config-types.ts'
import { loadSecretKey } from './config/secret-key.ts'
import type { Core } from './core-dependencies.ts'
import { createDirectBus, LANE_TTL_MS } from './event-bus/brokerless-bus.ts'
import type { EventBus } from './event-bus/port.ts'
import { openEventStore } from './event-store/open-event-store.ts'
import { createPostgresSnapshots } from './event-store/snapshots.ts'
import { createStreamActors } from './event-store/stream-actors.ts'
import { createLeases, endAllLeases, ONLY_PROCESS_TTL_MS } from './leases/exclusive-leases.ts'
import { openLimits } from './limits/open-limits-and-caches.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './postgres/embedded-postgres.ts'
import { createPools } from './postgres/pools.ts'
import { rejectUnsafeServer } from './postgres/server-checks.ts'
import { createSharedClock } from './postgres/shared-clock.ts'
import { abortable, NEVER } from './reject-on-abort.ts'
import { createLog } from './telemetry/log.ts'
import { createDiskProbe, withStoreProbe } from './telemetry/write-probe.ts'
import { refuseOwnKeyAsWitness, refuseRecordedKeyAsWitness } from './transparency-log/open-log.ts'
import { createVault } from './vault/vault.ts'

export type RunningCore = { readonly core: Core; readonly close: () => Promise<void> }

type Closers = (() => Promise<void>)[]

/**
 * The maximum time in milliseconds for which an aborted start waits for resources that are still
 * being opened.
 */
const OPEN_WITHIN_MS = 2_000

/**
 * Starts the database connections, the event store, the stream actors and the vault. `begun` is the
 * embedded Postgres, if its start has already begun. If the start fails or `signal` aborts, closes
 * everything that was opened and throws.
 */
export async function startCore(
  config: Config,
  signal: AbortSignal = NEVER,
  begun: Promise<EmbeddedPostgres> | null = null,
): Promise<RunningCore> {
  const log = createLog(config.logLevel)
  const closers: Closers = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  let opening: Promise<Core> | null = null
  try {
    const secretKey = loadSecretKey(config)
    const database = config.databaseUrl ?? (await openEmbedded(config, log, closers, signal, begun))
    signal.throwIfAborted()
    opening = openCore({ ...config, secretKey }, database, log, closers)
    return { core: await abortable(opening, signal), close }
  } catch (error) {
    // After an abort, `openCore` still runs, so this code waits until `openCore` has ended. NOTE:
    // Slonik's first connection has no listener for its errors. Stopping Postgres earlier would end
    // the process with an uncaught error.
    await Promise.race([opening?.catch(() => {}), delay(OPEN_WITHIN_MS, undefined, { ref: false })])
    await close()
    throw error
  }
}

async function openCore(
  config: Config & { readonly secretKey: Uint8Array },
  database: string,
  log: Core['log'],
  closers: Closers,
): Promise<Core> {
  const { secretKey } = config
  const pools = await createPools(database)
  closers.push(() => pools.close())
  if (config.databaseUrl !== null) await rejectUnsafeServer(pools.pg)
  // The vault opens first, so that a start with a wrong `SECRET_KEY` writes nothing.
  const vault = await createVault({ pg: pools.pg, secretKey })
  refuseOwnKeyAsWitness({ config, vault })
  await refuseRecordedKeyAsWitness({ config, pg: pools.pg })
  const isOnlyProcess = config.databaseUrl === null
  if (isOnlyProcess) await endAllLeases(pools.pg)
  const ttlMs = isOnlyProcess ? ONLY_PROCESS_TTL_MS : undefined
  const disk = await createDiskProbe(pools.pg)
  closers.push(async () => disk.stop())
  const clock = await createSharedClock(pools.pg, log)
  closers.push(async () => clock.stop())
  const { now } = clock
  const leases = await createLeases(pools.pg, log, ttlMs)
  const store = await openEventStore({ url: config.eventStore.url, database, pg: pools.pg, log })
  closers.push(() => store.close())
  const writes = withStoreProbe(disk, store)
  closers.push(async () => writes.stop())
  const bus = await openBus(config, { store, leases, log })
  closers.push(() => bus.close())
  const snapshots = await createPostgresSnapshots({ pg: pools.pg, vault, log })
  const { redisUrl, relayWorkers: workers } = config
  const shared = await openLimits({ redisUrl, secretKey, log, now, workers, pg: pools.pg })
  closers.push(shared.close)
  return {
    config,
    db: pools.db,
    pg: pools.pg,
    store,
    actors: createStreamActors({ store, snapshots, log }),
    bus,
    leases,
    limits: shared.limits,
    callLimits: shared.callLimits,
    shortLived: shared.shortLived,
    sharedCache: shared.sharedCache,
    vault,
    writes,
    log,
    now,
  }
}

/**
 * Opens the event bus, with Kafka if brokers are configured. Every process with the role
 * `projections` can publish to Kafka. A lease selects the one that does.
 */
async function openBus(
  { databaseUrl, kafkaBrokers: brokers, roles }: Config,
  deps: Pick<Core, 'store' | 'leases' | 'log'>,
): Promise<EventBus> {
  if (brokers.length === 0) {
    const ttlMs = databaseUrl === null ? ONLY_PROCESS_TTL_MS : LANE_TTL_MS
    return createDirectBus({ ...deps, ttlMs })
  }
  // The Kafka bus is imported only when it is needed, because loading its client is slow.
  const { createKafkaBus } = await import('./event-bus/kafka/kafka-bus.ts')
  return await createKafkaBus({ brokers, ...deps, isPublisher: roles.has('projections') })
}

async function openEmbedded(
  { dataDir }: Config,
  log: Core['log'],
  closers: Closers,
  signal: AbortSignal,
  begun: Promise<EmbeddedPostgres> | null,
): Promise<string> {
  const embedded = await (begun ?? startEmbeddedPostgres({ dataDir, log, signal }))
  closers.push(() => embedded.stop())
  return embedded.connectionString
}
