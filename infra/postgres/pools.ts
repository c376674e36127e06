import { Pool } from 'pg'
import type { Logger } from 'pino'
import {
  createPool,
  createTypeParserPreset,
  type DatabasePool,
  type Interceptor,
  SchemaValidationError,
} from 'slonik'
import { boundedDriver, boundQueries } from './query-timeouts.ts'

/**
 * Adds `synchronous_commit=on` to the connection string, because a role or a database may have
 * `off` as its default. A test with `off` lost 396 of 89,127 acknowledged commits.
 */
export const withDurableCommits = (connectionString: string): string =>
  withSessionOptions(connectionString, '-c synchronous_commit=on')

function withSessionOptions(connectionString: string, required: string): string {
  const url = new URL(connectionString)
  const options = url.searchParams.get('options')
  url.searchParams.set('options', options === null ? required : `${options} ${required}`)
  // NOTE: spaces must be encoded as `%20`, because the drivers do not decode `+` as a space.
  url.search = url.search.replaceAll('+', '%20')
  return url.href
}

export type Pools = {
  readonly db: DatabasePool
  readonly pg: Pool
  readonly close: () => Promise<void>
}

/**
 * The time limit in milliseconds for getting a connection, including the wait for a free connection
 * in the pool.
 */
const CONNECT_WITHIN_MS = 10_000
const QUERY_WITHIN_MS = 15_000
/**
 * The time in milliseconds after which idle connections are closed. This time is longer than the
 * intervals of regular queries, because opening a connection is costly for the server and this
 * process.
 */
const IDLE_MS = 60_000
/** The maximum wait in milliseconds for the last response on a connection that is being closed. */
const GIVE_UP_WITHIN_MS = 2_000

/**
 * Keeps the process alive when the server closes a connection. Without a listener, the error event
 * of a client in use would end the process. The error is ignored, because the client's next
 * statement fails anyway.
 */
export function surviveLostConnections(pg: Pool, onIdleLost: (error: Error) => void): void {
  pg.on('error', onIdleLost)
  pg.on('connect', (client) => client.on('error', () => {}))
}

/**
 * Opens the two pools to Postgres: Slonik for ordinary SQL, and plain pg for latency-critical SQL.
 * Slonik converts int8 to bigint, numeric to text and timestamptz to ISO text.
 *
 * A lost connection fails only the queries that were running on it. Every session commits
 * synchronously, whatever the server's default is.
 *
 * A statement that is not answered within `queryWithinMs` milliseconds throws
 * `DatabaseUnavailable`, except on a client of `pg.connect()`.
 */
export async function createPools(
  connectionString: string,
  log?: Logger,
  queryWithinMs = QUERY_WITHIN_MS,
): Promise<Pools> {
  const url = withDurableCommits(connectionString)
  const pg = new Pool({
    connectionString: url,
    max: 12,
    // Statements of one client are sent without waiting for the answers to earlier statements.
    pipeline: true,
    keepAlive: true,
    maxLifetimeSeconds: 3600,
    idleTimeoutMillis: IDLE_MS,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
  })
  boundQueries(pg, queryWithinMs)
  const onError = (error: Error): void => {
    log?.warn({ reason: error.message }, 'an idle database connection was lost')
  }
  surviveLostConnections(pg, onError)
  const db = await createPool(url, {
    driverFactory: boundedDriver(queryWithinMs),
    typeParsers,
    interceptors: [checkedRows],
    maxPoolSize: 16,
    idleTimeout: IDLE_MS,
    connectionTimeout: CONNECT_WITHIN_MS,
    gracefulTerminationTimeout: GIVE_UP_WITHIN_MS,
    // The connection is not reset, because sessions have no state.
    resetConnection: async () => {},
  })
  db.on('error', onError)
  return {
    db,
    pg,
    close: async () => {
      await Promise.all([db.end(), pg.end()])
    },
  }
}

/**
 * Creates a pool of one connection with the settings of `pg`. Postgres plans a prepared statement
 * once per connection, so each statement of this pool is planned only once.
 */
export function createSingleConnectionPool(pg: Pool): Pool {
  const single = new Pool({ ...pg.options, max: 1, idleTimeoutMillis: 0 })
  surviveLostConnections(single, () => {})
  return single
}

const COPY_CONNECTIONS_MAX = 3

/**
 * Opens pools whose sessions only read. `rewrite` changes the text of each statement, so that the
 * same statements can read other schemas, such as those of a scratch copy. The pools have few
 * connections. Apart from this, they have the settings of `pg`.
 */
export async function createRewritingPools(
  pg: Pool,
  rewrite: (statement: string) => string,
): Promise<Pools> {
  const url = withSessionOptions(pg.options.connectionString ?? '', READ_ONLY)
  const reading = new Pool({
    ...pg.options,
    ...{ connectionString: url, max: COPY_CONNECTIONS_MAX, pipeline: false },
  })
  boundQueries(reading, QUERY_WITHIN_MS)
  surviveLostConnections(reading, () => {})
  const send = reading.query.bind(reading) as (query: unknown, values?: unknown) => unknown
  const query = (statement: string | { readonly text: string }, values?: unknown) =>
    typeof statement === 'string'
      ? send(rewrite(statement), values)
      : send({ ...statement, text: rewrite(statement.text) }, values)
  const rewriting: Interceptor = {
    name: 'rewrite',
    transformQuery: (_context, statement) => ({ ...statement, sql: rewrite(statement.sql) }),
  }
  const db = await createPool(url, {
    driverFactory: boundedDriver(QUERY_WITHIN_MS),
    typeParsers,
    interceptors: [rewriting, checkedRows],
    maxPoolSize: COPY_CONNECTIONS_MAX,
    idleTimeout: IDLE_MS,
    connectionTimeout: CONNECT_WITHIN_MS,
    gracefulTerminationTimeout: GIVE_UP_WITHIN_MS,
    resetConnection: async () => {},
  })
  db.on('error', () => {})
  return {
    db,
    pg: Object.assign(reading, { query }),
    close: async () => {
      await Promise.all([db.end(), reading.end()])
    },
  }
}

const READ_ONLY = '-c default_transaction_read_only=on'

// NOTE: Slonik's own numeric parser rounds, and its own time parsers return milliseconds, so both
// are replaced.
const typeParsers = [
  ...createTypeParserPreset().filter(
    ({ name }) => name !== 'numeric' && !name.startsWith('timestamp'),
  ),
  { name: 'numeric', parse: (text: string) => text },
  { name: 'timestamptz', parse: (text: string) => new Date(text).toISOString() },
]

// NOTE: Slonik itself does not validate rows against the row type in `sql.type(schema)`.
const checkedRows: Interceptor = {
  name: 'checked-rows',
  transformRow: (context, query, row) => {
    const checked = context.resultParser?.['~standard'].validate(row)
    if (checked === undefined) return row
    if (checked instanceof Promise) throw new Error('row types must be synchronous')
    if (checked.issues) throw new SchemaValidationError(query, row, checked.issues)
    return checked.value as typeof row
  },
}
