import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { languageOf } from '#infra/http/language.ts'
import { type LogFilter, logRows } from '#projections/call-log/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { LogPage } from '../contract/logs.ts'
import { type App, pageOf, Query, type ReadDeps, upToDate, wholeOf } from '../question.ts'
import { logAnswer, openRows } from './log-answer.ts'
import { AdminFilters, LogFilters, logFilter, PageCursors } from './log-query.ts'
import { sumLogs } from './log-totals.ts'
import { messagesOf } from './provider-messages.ts'

/** `before`: rows below this row's id, instead of the start of the list. */
const Paging = { ...Query.page, before: Query.whole }
const AllLogs = Type.Object({ ...Paging, ...AdminFilters })
const OwnLogs = Type.Object({ ...Paging, ...LogFilters })

/** `GET /api/log/` (everybody's, for admins) and `GET /api/log/self/`: newest first. */
export function listLogs(app: App, deps: ReadDeps): void {
  const cursors = new PageCursors()
  const fresh = upToDate(deps, 'call-log', 'usage-by-hour')
  const response = { 200: Envelope(LogPage) }
  app.get(
    '/api/log/',
    { schema: { querystring: AllLogs, response }, onRequest: onlyAdmin, preHandler: fresh },
    (request) => answer(deps, cursors, request, request.query, null),
  )
  app.get(
    '/api/log/self/',
    { schema: { querystring: OwnLogs, response }, onRequest: onlyUser, preHandler: fresh },
    (request) => answer(deps, cursors, request, request.query, principalOf(request).userId),
  )
}

async function answer(
  deps: ReadDeps,
  cursors: PageCursors,
  request: FastifyRequest,
  query: Static<typeof AllLogs>,
  ownerId: number | null,
) {
  const { core } = deps
  const { page, limit } = pageOf(query)
  const filter = await logFilter(deps, query, ownerId)
  if (filter === null) return success({ items: [], page, total: 0 })
  const now = Math.floor(core.now() / 1_000)
  const { count: total } = await sumLogs(core.db, filter, now)
  const { userId, role } = principalOf(request)
  const given = wholeOf(query.before)
  const list = digest(JSON.stringify([userId, limit, listOf(filter, now), given ?? 0]))
  const start = cursors.start(list, page, limit)
  const slice = { ...(given === undefined ? {} : { before: given }), ...start, limit }
  const isBeyond = slice.before === undefined && slice.offset >= total
  const rows = isBeyond ? [] : await logRows(core.db, filter, slice)
  const last = rows.at(-1)
  if (last !== undefined) cursors.learn(list, page, last.id)
  // NOTE: in one's own log an admin, too, sees what a user sees.
  const viewer = { isAdmin: ownerId === null && role >= 10, language: languageOf(request) }
  const messages = await messagesOf(deps, rows)
  const opened = await openRows(core.vault, rows)
  const items = opened.map((row) => logAnswer(row, viewer, messages.get(row.requestId)))
  return success({ items, page, total })
}

/** A name may stand for thousands of tokens, and many lists are remembered. */
const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

/**
 * What tells one list from another as it is paged: a range that moves with the clock stays one.
 * Its start only cuts the far end off, and an end that is still to come cuts nothing.
 */
function listOf({ from: _start, to, ...filter }: LogFilter, now: number): LogFilter {
  return to === undefined || to >= now ? filter : { ...filter, to }
}
