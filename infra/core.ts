import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { DatabasePool } from 'slonik'
import type { Config } from './config/config.ts'
import type { EventBus } from './event-bus/port.ts'
import type { StreamActors } from './event-store/actors-port.ts'
import type { EventStore } from './event-store/port.ts'
import type { Leases } from './leases/leases.ts'
import type { Limits } from './limits/port.ts'
import type { ShortLived } from './limits/short-lived.ts'
import type { WriteProbe } from './telemetry/write-probe.ts'
import type { Vault } from './vault/port.ts'

/** What every part of the server is given. Tests build it by `test/support/core.ts`. */
export type Core = {
  readonly config: Config
  /** Read models and other SQL of ordinary pace. */
  readonly db: DatabasePool
  /** Bare pg, for hot paths with named statements. */
  readonly pg: Pool
  readonly store: EventStore
  readonly actors: StreamActors
  readonly bus: EventBus
  readonly leases: Leases
  readonly limits: Limits
  /** Those of calls, which relays alone share. */
  readonly callLimits: Limits
  readonly shortLived: ShortLived
  readonly vault: Vault
  /** Whether the disk still takes writes. */
  readonly writes: WriteProbe
  readonly log: Logger
  /** Unix milliseconds. */
  readonly now: () => number
}
