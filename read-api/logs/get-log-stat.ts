import { toWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type LogFilter, sumLogRows } from '#projections/logs/query.ts'
import { type LogQuery, type LogStat, logQueries } from '../contract/logs.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'
import { logFilter } from './log-filter-and-page-cursors.ts'
import { sumLogs } from './sum-logs.ts'

const CONSUMPTION = 2
const RATE_SECONDS = 60

/**
 * `GET /api/log/stat` (all users, for admins) and `GET /api/log/self/stat`: the totals of the
 * matching rows, and the rate of calls and tokens in the last minute. Without a filter by type,
 * only charged calls count. With a filter by request id or failed channel, failed calls count too.
 */
export function logStat(app: App, deps: ReadDeps): void {
  const fresh = upToDate(deps, 'call-log', 'usage-by-hour', 'corrected-calls')
  app.route({
    ...endpoint(logQueries, 'GET /api/log/stat'),
    preHandler: fresh,
    onRequest: onlyAdmin,
    handler: (request) => respond(deps, request.query, null),
  })
  app.route({
    ...endpoint(logQueries, 'GET /api/log/self/stat'),
    preHandler: fresh,
    onRequest: onlyUser,
    handler: (request) => respond(deps, request.query, principalOf(request).userId),
  })
}

async function respond(deps: ReadDeps, query: LogQuery, ownerId: number | null) {
  const requested = await logFilter(deps, query, ownerId)
  return success(requested === null ? NOTHING : await statOf(deps.core, requested))
}

const NOTHING: LogStat = {
  quota: 0,
  rpm: 0,
  tpm: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  count: 0,
}

/**
 * Returns the totals of the rows that match a filter, and the rate of the last minute. If the
 * filter contains no type, request id or failed channel, only charged calls count.
 */
export async function statOf(
  { db, now: clock }: Pick<Core, 'db' | 'now'>,
  requested: LogFilter,
): Promise<LogStat> {
  const { requestId, failedChannelId } = requested
  const isOfCalls = requestId !== undefined || failedChannelId !== undefined
  const filter: LogFilter = isOfCalls ? requested : { type: CONSUMPTION, ...requested }
  const now = Math.floor(clock() / 1_000)
  const { from: _from, to: _to, ...conditions } = filter
  const recent = { ...conditions, from: now - RATE_SECONDS }
  const [sums, rate] = await Promise.all([sumLogs(db, filter, now), sumLogRows(db, recent)])
  return {
    quota: toWire(sums.quota),
    rpm: rate.count,
    tpm: rate.promptTokens + rate.completionTokens,
    prompt_tokens: sums.promptTokens,
    completion_tokens: sums.completionTokens,
    count: sums.count,
  }
}
