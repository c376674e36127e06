import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { DatabasePool } from 'slonik'
import type { Config } from './config/config-types.ts'
import type { EventBus } from './event-bus/port.ts'
import type { EventStore } from './event-store/port.ts'
import type { StreamActors } from './event-store/stream-actors-port.ts'
import type { Leases } from './leases/exclusive-leases.ts'
import type { Limits } from './limits/port.ts'
import type { ShortLived } from './limits/short-lived-values.ts'
import type { SharedCache } from './redis/shared-cache.ts'
import type { WriteProbe } from './telemetry/write-probe.ts'
import type { Vault } from './vault/port.ts'

/** The dependencies that every part of the server receives. */
export type Core = {
  readonly config: Config
  /** The connection pool for read models and all other SQL that is not latency-critical. */
  readonly db: DatabasePool
  /** The pool for latency-critical SQL, with named statements and without Slonik's overhead. */
  readonly pg: Pool
  readonly store: EventStore
  readonly actors: StreamActors
  readonly bus: EventBus
  readonly leases: Leases
  readonly limits: Limits
  /** The limiter of relay calls. All relay processes share its counts. */
  readonly callLimits: Limits
  readonly shortLived: ShortLived
  /**
   * A cache that all processes share through Redis, to save work. Any value can be lost at any
   * time. Null if no Redis is configured.
   */
  readonly sharedCache: SharedCache | null
  readonly vault: Vault
  readonly writes: WriteProbe
  readonly log: Logger
  readonly now: () => number
}
