import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/http-errors.ts'
import { findInInbox, type InboxRow, listInbox, unreadCounts } from '#projections/messages/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { InboxMessage, UnreadCount } from '../contract/messages.ts'
import { type App, IdParams, pageOf, Query, type ReadDeps, upToDate } from '../route.ts'

/** `GET /api/user/messages`, `{id}` and `unread_count`: the caller's inbox. */
export function inboxMessages(app: App, deps: ReadDeps): void {
  const { core } = deps
  const routeOptions = { onRequest: onlyUser, preHandler: upToDate(deps, 'messages') }
  app.get(
    '/api/user/messages',
    {
      ...routeOptions,
      schema: {
        querystring: Type.Object(Query.page),
        response: { 200: Envelope(Page(InboxMessage)) },
      },
    },
    async (request) => {
      const { page, ...slice } = pageOf(request.query)
      const { rows, total } = await listInbox(core.db, principalOf(request).userId, slice)
      return success({ items: rows.map(inboxAnswer), page, total })
    },
  )
  app.get(
    '/api/user/messages/unread_count',
    { ...routeOptions, schema: { response: { 200: Envelope(UnreadCount) } } },
    async (request) => {
      const { userId } = principalOf(request)
      const counts = await unreadCounts(core.db, [userId])
      return success({ unread_count: counts.get(userId) ?? 0 })
    },
  )
  app.get(
    '/api/user/messages/:id',
    { ...routeOptions, schema: { params: IdParams, response: { 200: Envelope(InboxMessage) } } },
    async (request) => {
      const { userId } = principalOf(request)
      const row = await findInInbox(core.db, userId, Number(request.params.id))
      if (row === null) throw notFound({ zh: '消息不存在', en: 'The message does not exist' })
      return success(inboxAnswer(row))
    },
  )
}

const inboxAnswer = (row: InboxRow): InboxMessage => ({
  id: row.id,
  title: row.title,
  content: row.content,
  format: row.format,
  created_at: row.createdAt,
  read_at: row.readAt,
  is_read: row.readAt !== null,
})
