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
 * Adds `synchronous_commit=on` for every session to the connection string. A role or a database may
 * have `off` as its default, and a test with `off` lost 396 of 89 127 acknowledged commits.
 */
export function withDurableCommits(connectionString: string): string {
  const url = new URL(connectionString)
  const given = url.searchParams.get('options')
  const wanted = '-c synchronous_commit=on'
  url.searchParams.set('options', given === null ? wanted : `${given} ${wanted}`)
  // NOTE: spaces are encoded as `%20`, because the drivers do not decode `+` as a space.
  url.search = url.search.replaceAll('+', '%20')
  return url.href
}

export type Pools = {
  readonly db: DatabasePool
  readonly pg: Pool
  readonly close: () => Promise<void>
}

/** The time limit for a connection, including the wait for a free connection in the pool. */
const CONNECT_WITHIN_MS = 10_000
const QUERY_WITHIN_MS = 15_000
/**
 * The maximum time in milliseconds to wait for the last response on a connection that is being
 * closed.
 */
const GIVE_UP_WITHIN_MS = 2_000

/**
 * Keeps the process alive when the server closes a connection. The pool reports only the errors of
 * idle connections. A client in use that loses its connection between two statements emits an error
 * event. Without a listener, this event would end the process. The listener ignores the error,
 * because the client's next statement fails anyway.
 */
export function surviveLostConnections(pg: Pool, onIdleLost: (error: Error) => void): void {
  pg.on('error', onIdleLost)
  pg.on('connect', (client) => client.on('error', () => {}))
}

/**
 * Opens the two pools to Postgres: Slonik for ordinary SQL, and plain pg for hot paths. Slonik
 * validates rows by their row type and converts int8 to bigint, numeric to text and timestamptz to
 * ISO text.
 *
 * A lost connection fails only the query that was running on it, and the pools open new
 * connections. Every session commits synchronously, whatever the server's default.
 *
 * A statement that is not answered within `queryWithinMs` throws `DatabaseUnavailable`, and its
 * connection is closed. Only statements on a client of `pg.connect()` may take longer.
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
    keepAlive: true,
    maxLifetimeSeconds: 3600,
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
    idleTimeout: 60_000,
    connectionTimeout: CONNECT_WITHIN_MS,
    gracefulTerminationTimeout: GIVE_UP_WITHIN_MS,
    // Sessions have no state, so the round trip that would reset a session is skipped.
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

// NOTE: these parsers replace the parsers of Slonik, whose numeric parser rounds and whose time
// parsers return milliseconds.
const typeParsers = [
  ...createTypeParserPreset().filter(
    ({ name }) => name !== 'numeric' && !name.startsWith('timestamp'),
  ),
  { name: 'numeric', parse: (text: string) => text },
  { name: 'timestamptz', parse: (text: string) => new Date(text).toISOString() },
]

// NOTE: Slonik itself does not validate rows against `sql.type(schema)`, so this interceptor
// validates them.
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
