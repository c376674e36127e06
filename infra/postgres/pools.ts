import { Pool } from 'pg'
import type { Logger } from 'pino'
import {
  createPool,
  createTypeParserPreset,
  type DatabasePool,
  type Interceptor,
  SchemaValidationError,
} from 'slonik'
import { boundedDriver, boundQueries } from './bounded.ts'

/**
 * Adds durable commits to the address, for every session: with `synchronous_commit=off`, which may
 * also be the default of a role or a database, a test lost 396 of 89 127 acknowledged commits.
 */
export function withDurableCommits(connectionString: string): string {
  const url = new URL(connectionString)
  const given = url.searchParams.get('options')
  const wanted = '-c synchronous_commit=on'
  url.searchParams.set('options', given === null ? wanted : `${given} ${wanted}`)
  // NOTE: the drivers decode `%20`, and read the `+` of form encoding as a plus.
  url.search = url.search.replaceAll('+', '%20')
  return url.href
}

export type Pools = {
  readonly db: DatabasePool
  readonly pg: Pool
  readonly close: () => Promise<void>
}

/** Includes the wait for a free connection. */
const CONNECT_WITHIN_MS = 10_000
const QUERY_WITHIN_MS = 15_000
/** The time for the last answer on a connection that is being closed. */
const GIVE_UP_WITHIN_MS = 2_000

/**
 * Opens the two pools to Postgres: Slonik for ordinary SQL (int8 → bigint, numeric → text,
 * timestamptz → ISO text, rows validated by their row type) and plain pg for hot paths.
 *
 * A lost connection fails only the query that was running on it; both pools open new ones. Every
 * session commits synchronously, whatever the server's default.
 *
 * A statement of either pool is answered within `queryWithinMs` or throws `DatabaseUnavailable`,
 * and its connection is closed. Only statements on a client of `pg.connect()` may take longer.
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
  pg.on('error', onError)
  const db = await createPool(url, {
    driverFactory: boundedDriver(queryWithinMs),
    typeParsers,
    interceptors: [checkedRows],
    maxPoolSize: 16,
    idleTimeout: 60_000,
    connectionTimeout: CONNECT_WITHIN_MS,
    gracefulTerminationTimeout: GIVE_UP_WITHIN_MS,
    // No code leaves state in a session, so the round trip that resets it is skipped.
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

// NOTE: Slonik's numeric parser rounds, and its time parsers return milliseconds.
const typeParsers = [
  ...createTypeParserPreset().filter(
    ({ name }) => name !== 'numeric' && !name.startsWith('timestamp'),
  ),
  { name: 'numeric', parse: (text: string) => text },
  { name: 'timestamptz', parse: (text: string) => new Date(text).toISOString() },
]

// NOTE: `sql.type(schema)` alone validates nothing; this interceptor does.
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
