import { createPgDriverFactory } from '@slonik/pg-driver'
import type { Pool, QueryConfig, QueryResult } from 'pg'
import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  type DriverClient,
  type DriverFactory,
} from 'slonik'

/** Thrown when Postgres did not answer in time. The statement may have been executed. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
}

/**
 * Reports whether the error means that the database is unreachable. Returns false if the statement
 * itself failed.
 */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable ||
  error instanceof ConnectionError ||
  error instanceof BackendTerminatedError ||
  error instanceof BackendTerminatedUnexpectedlyError

const SOCKET_CODES =
  /^(?:ECONN[A-Z]+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/
/** SQLSTATEs of a lost connection, and of a server that starts, stops or has too many clients. */
const AWAY_SQLSTATES = /^(?:08[0-9A-Z]{3}|57P0\d|53300)$/
const LOST_CONNECTION =
  /^(?:Connection (?:terminated|ended)|Client has encountered|timeout exceeded when trying)/

/**
 * Reports whether a query failed because the database is away: either `isUnavailable` is true, or
 * the driver has lost its connection or could not establish one. Connections to other servers, such
 * as Redis, fail with the same codes, so the caller must handle the errors of those connections
 * first.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (isUnavailable(error)) return true
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  if (SOCKET_CODES.test(String(code)) || AWAY_SQLSTATES.test(String(code))) return true
  return LOST_CONNECTION.test(String(message))
}

/**
 * A statement with a time limit. `query_timeout` is in milliseconds, and 0 sets no limit. The
 * driver's type declarations lack this field.
 */
type Statement = QueryConfig & { readonly query_timeout?: number }

const NO_ANSWER = /^(Query read timeout|timeout exceeded when trying to connect)|due to .*timeout$/

/**
 * Limits each `pg.query` to `withinMs` milliseconds, unless the statement has a `query_timeout`.
 * Statements on a client of `pg.connect()` are not limited, because rebuilds and DDL may take as
 * long as they need.
 */
export function boundQueries(pg: Pool, withinMs: number): void {
  const query = pg.query.bind(pg) as (config: Statement) => Promise<QueryResult>
  const bounded = async (statement: string | QueryConfig, values?: unknown[]) => {
    const config = typeof statement === 'string' ? { text: statement } : statement
    const valuesMember = values === undefined ? {} : { values }
    try {
      return await query({ query_timeout: withinMs, ...config, ...valuesMember })
    } catch (error) {
      const { message } = error as Error
      if (!NO_ANSWER.test(message)) throw error
      throw new DatabaseUnavailable(message, { cause: error })
    }
  }
  pg.query = bounded as Pool['query']
}

/**
 * Creates a driver for Slonik that limits each statement to `withinMs` milliseconds. Slonik closes
 * a connection whose statement failed.
 */
export const boundedDriver =
  (withinMs: number): DriverFactory =>
  async (settings) => {
    const driver = await createPgDriverFactory()(settings)
    const bound = (client: DriverClient): DriverClient => ({
      ...client,
      query: (...statement) => answerIn(client.query(...statement), withinMs),
    })
    return { ...driver, createClient: async () => bound(await driver.createClient()) }
  }

/** Resolves with `answer`, or rejects with `DatabaseUnavailable` after `withinMs` milliseconds. */
export async function answerIn<T>(answer: Promise<T>, withinMs: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new DatabaseUnavailable(`no answer within ${withinMs} ms`)),
    withinMs,
  )
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
