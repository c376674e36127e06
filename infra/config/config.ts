export type Role = 'write-api' | 'read-api' | 'projections' | 'relay' | 'console'

/** The environment, parsed and checked once at start by `readConfig`. */
export type Config = {
  readonly port: number
  readonly host: string
  readonly isLoopback: boolean
  readonly dataDir: string
  /** null: the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | null
  readonly roles: ReadonlySet<Role>
  /** 32 bytes; null: generated and kept in `dataDir`. */
  readonly secretKey: Uint8Array | null
  readonly logLevel: string
  readonly trustProxy: readonly string[]
  /** Private upstream addresses that channels may use, as `CIDR` and `port` (null: any). */
  readonly privateUpstreams: readonly { readonly cidr: string; readonly port: number | null }[]
  readonly metricsToken: string | null
  /** Where Stripe's API is; null: at Stripe. */
  readonly stripeApiBase: string | null
  /** `url` null: the events are in the same Postgres as everything else. */
  readonly eventStore: { readonly url: string | null }
  /** `host:port` each; none: events come straight from the event store. */
  readonly kafkaBrokers: readonly string[]
  /** null: limits and short-lived codes are this process's own. */
  readonly redisUrl: string | null
  /** Processes that answer requests on the one port; 1: this one does everything. */
  readonly relayWorkers: number
}
