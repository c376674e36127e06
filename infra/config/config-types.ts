export type Role = 'write-api' | 'read-api' | 'projections' | 'relay' | 'console'

export type TransparencyLogConfig = {
  /** The 32 bytes of the signing key; null means that the key is derived from `SECRET_KEY`. */
  readonly key: Uint8Array | null
  /** The witnesses that are asked to sign each checkpoint, with their keys `name+hash+key`. */
  readonly witnesses: readonly { readonly key: string; readonly url: string }[]
  /** The number of witnesses that must have signed before a receipt is final. */
  readonly quorum: number
  /** The keys `name+hash+key` of the logs whose checkpoints this site signs as a witness. */
  readonly witnessedKeys: readonly string[]
  /** The URL to which each checkpoint is sent, or null. */
  readonly webhook: string | null
  /** The file to which each checkpoint is appended, or null. */
  readonly file: string | null
}

/** The configuration of a process, which is read once at start from the environment variables. */
export type Config = {
  readonly port: number
  readonly host: string
  readonly isLoopback: boolean
  readonly dataDir: string
  /** The connection string of Postgres; null selects the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | null
  readonly roles: ReadonlySet<Role>
  /** The 32 bytes of `SECRET_KEY`; null means that the key is generated and stored in `dataDir`. */
  readonly secretKey: Uint8Array | null
  readonly logLevel: string
  readonly trustProxy: readonly string[]
  /** The private IP ranges to which channels may connect. A null `port` allows every port. */
  readonly privateUpstreams: readonly { readonly cidr: string; readonly port: number | null }[]
  readonly metricsToken: string | null
  /** The origin of Stripe's API; null selects Stripe's default. */
  readonly stripeApiBase: string | null
  /**
   * The key and the witnesses that sign the transparency log, the logs for which this site is a
   * witness, and the destinations of the log's checkpoints.
   */
  readonly transparencyLog: TransparencyLogConfig
  /** The address of EventStoreDB; null stores the events in the Postgres database instead. */
  readonly eventStore: { readonly url: string | null }
  /**
   * The Kafka brokers as `host:port`. An empty list means that events are only read from the event
   * store.
   */
  readonly kafkaBrokers: readonly string[]
  /**
   * The address of Redis; null keeps the counts of limits in each process, and short-lived codes in
   * Postgres.
   */
  readonly redisUrl: string | null
  /**
   * The number of processes that accept connections on the server's port. With 1, a single process
   * does all work.
   */
  readonly relayWorkers: number
}

/** Thrown for an invalid environment variable. The message names the variable and the problem. */
export class ConfigError extends Error {
  readonly variable: string
  constructor(variable: string, reason: string) {
    super(`${variable}: ${reason}`)
    this.name = 'ConfigError'
    this.variable = variable
  }
}

/**
 * Reports whether workers are needed. A process that only has the role `projections` needs no
 * workers.
 */
export const usesWorkers = ({ relayWorkers, roles }: Config): boolean =>
  relayWorkers > 1 && [...roles].some((role) => role !== 'projections')
