export type Role = 'write-api' | 'read-api' | 'projections' | 'relay' | 'console'

/** The environment, parsed and checked once at start by `readConfig`. */
export type Config = {
  readonly port: number
  readonly host: string
  readonly isLoopback: boolean
  readonly dataDir: string
  /** null selects the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | null
  readonly roles: ReadonlySet<Role>
  /** 32 bytes; null means that the key is generated and stored in `dataDir`. */
  readonly secretKey: Uint8Array | null
  readonly logLevel: string
  readonly trustProxy: readonly string[]
  /** Private upstream addresses that channels may use, as `CIDR` and `port` (null: any port). */
  readonly privateUpstreams: readonly { readonly cidr: string; readonly port: number | null }[]
  readonly metricsToken: string | null
  /** Origin of Stripe's API; null selects Stripe's default. */
  readonly stripeApiBase: string | null
  /** A null `url` stores the events in the same Postgres as everything else. */
  readonly eventStore: { readonly url: string | null }
  /** Each entry is `host:port`; without entries events come straight from the event store. */
  readonly kafkaBrokers: readonly string[]
  /** null keeps limits and short-lived codes in this process. */
  readonly redisUrl: string | null
  /**
   * Number of processes that answer requests on the one port; with 1 this process does everything.
   */
  readonly relayWorkers: number
}

/** An environment variable that can't be used; the message names the variable and the problem. */
export class ConfigError extends Error {
  readonly variable: string
  constructor(variable: string, fault: string) {
    super(`${variable}: ${fault}`)
    this.name = 'ConfigError'
    this.variable = variable
  }
}
