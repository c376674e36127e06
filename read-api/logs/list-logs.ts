import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  type ListOrder,
  type LogFilter,
  type LogRow,
  logRows,
  newestLogId,
  SORT_WINDOW,
  sortedLogRows,
} from '#projections/logs/query.ts'
import { loggedCorrections } from '../audit/corrections.ts'
import { type AllLogs, type LogSort, logQueries } from '../contract/logs.ts'
import {
  type App,
  integerOf,
  pageOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { logFilter, PageCursors } from './log-filter-and-page-cursors.ts'
import { decryptRows, logResponse, messagesOf } from './log-response.ts'
import { sumLogs } from './sum-logs.ts'

const CONSUMPTION = 2

/**
 * `GET /api/log/` (all users, for admins) and `GET /api/log/self/`: the rows of the log, by default
 * newest first.
 */
export function listLogs(app: App, deps: ReadDeps): void {
  const cursors = new PageCursors()
  const fresh = upToDate(deps, 'call-log', 'usage-by-hour', 'corrected-calls')
  app.route({
    ...endpoint(logQueries, 'GET /api/log/'),
    preHandler: fresh,
    onRequest: onlyAdmin,
    handler: (request) => respond(deps, cursors, request, request.query, null),
  })
  app.route({
    ...endpoint(logQueries, 'GET /api/log/self/'),
    preHandler: fresh,
    onRequest: onlyUser,
    handler: (request) =>
      respond(deps, cursors, request, request.query, principalOf(request).userId),
  })
}

async function respond(
  deps: ReadDeps,
  cursors: PageCursors,
  request: FastifyRequest,
  query: Static<typeof AllLogs>,
  ownerId: number | null,
) {
  const { core } = deps
  const { page, limit, offset } = pageOf(query)
  const filter = await logFilter(deps, query, ownerId)
  if (filter === null) return success({ items: [], page, total: 0 })
  const now = Math.floor(core.now() / 1_000)
  const { count: total } = await sumLogs(core.db, filter, now)
  const { userId, role } = principalOf(request)
  const cursor = integerOf(query.before)
  const order = logOrder(query, ownerId)
  const list = digest(JSON.stringify([userId, limit, listOf(filter, now), cursor ?? 0, order]))
  const rows =
    order === null
      ? await rowsOfPage(core.db, cursors, { list, filter, cursor, page, limit, total })
      : await sortedLogRows(core.db, filter, {
          ...order,
          limit,
          offset,
          before: await cursors.end(list, page, () => newestLogId(core.db, filter)),
        })
  // NOTE: In `GET /api/log/self/`, an admin sees the same fields as any other user.
  const viewer = { isAdmin: ownerId === null && role >= ADMIN, language: languageOf(request) }
  const messages = await messagesOf(deps, rows)
  const decrypted = await decryptRows(core.vault, rows)
  const corrections = await loggedCorrections(core, callsOf(rows), viewer.isAdmin)
  const items = decrypted.map((row) => {
    const { requestId } = row
    return logResponse(row, viewer, messages.get(requestId), corrections.get(requestId))
  })
  return success({ items, page, total: order === null ? total : Math.min(total, SORT_WINDOW) })
}

const callsOf = (rows: readonly LogRow[]): string[] =>
  rows.flatMap(({ requestId, type }) => (type === CONSUMPTION ? [requestId] : []))

/**
 * Returns one page of the log, newest first. If the last row of an earlier page is known, the page
 * is found from this row. New rows then do not shift the page.
 */
async function rowsOfPage(
  db: ReadDeps['core']['db'],
  cursors: PageCursors,
  query: {
    readonly list: string
    readonly filter: LogFilter
    readonly cursor: number | undefined
    readonly page: number
    readonly limit: number
    readonly total: number
  },
): Promise<readonly LogRow[]> {
  const { list, filter, cursor, page, limit, total } = query
  const start = cursors.start(list, page, limit)
  const slice = { ...(cursor === undefined ? {} : { before: cursor }), ...start, limit }
  const isBeyond = slice.before === undefined && slice.offset >= total
  const rows = isBeyond ? [] : await logRows(db, filter, slice)
  const last = rows.at(-1)
  if (last !== undefined) cursors.learn(list, page, last.id)
  return rows
}

/**
 * Returns the requested order of the log, or null for the default order, newest first. A user's own
 * log can't be sorted by channels or retries, because this log shows neither channels nor retries.
 */
function logOrder(
  { sort, order }: Static<typeof AllLogs>,
  ownerId: number | null,
): ListOrder<LogSort> | null {
  if (!sort || (ownerId !== null && (sort === 'channel' || sort === 'retries'))) return null
  const isNewestFirst = sort === 'created_at' && order !== 'asc'
  return isNewestFirst ? null : { sort, isDescending: order !== 'asc' }
}

/**
 * Hashes the key under which `PageCursors` stores a list. The key itself can be long, because it
 * contains the ids of all tokens with the requested name.
 */
const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

/**
 * Returns the part of a filter that is the same for all pages of a list. The start of the range and
 * an end in the future are left out, because a client that requests the last hours sends other
 * times for each page.
 */
function listOf({ from: _start, to, ...filter }: LogFilter, now: number): LogFilter {
  return to === undefined || to >= now ? filter : { ...filter, to }
}
