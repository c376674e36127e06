import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { notFound } from '#infra/http/http-errors.ts'
import { success } from '#infra/http/response-envelope.ts'
import { findInInbox, type InboxRow, listInbox, unreadCounts } from '#projections/messages/query.ts'
import { INBOX_FIELDS } from '../contract/message-fields.ts'
import { type InboxMessage, messageQueries } from '../contract/messages.ts'
import { responseOf } from '../contract/resource-field-definition.ts'
import { type App, orderOf, pageOf, type ReadDeps, upToDate } from '../read-route-helpers.ts'

/**
 * `GET /api/user/messages`, `GET /api/user/messages/{id}` and `GET
 * /api/user/messages/unread_count`: the messages that the caller has received.
 */
export function inboxMessages(app: App, deps: ReadDeps): void {
  const { core } = deps
  const routeOptions = { onRequest: onlyUser, preHandler: upToDate(deps, 'messages') }
  app.route({
    ...endpoint(messageQueries, 'GET /api/user/messages'),
    ...routeOptions,
    handler: async (request) => {
      const { page, ...slice } = pageOf(request.query)
      const search = { ...slice, ...orderOf(request.query) }
      const { rows, total } = await listInbox(core.db, principalOf(request).userId, search)
      return success({ items: rows.map(inboxResponse), page, total })
    },
  })
  app.route({
    ...endpoint(messageQueries, 'GET /api/user/messages/unread_count'),
    ...routeOptions,
    handler: async (request) => {
      const { userId } = principalOf(request)
      const counts = await unreadCounts(core.db, [userId])
      return success({ unread_count: counts.get(userId) ?? 0 })
    },
  })
  app.route({
    ...endpoint(messageQueries, 'GET /api/user/messages/:id'),
    ...routeOptions,
    handler: async (request) => {
      const { userId } = principalOf(request)
      const row = await findInInbox(core.db, userId, Number(request.params.id))
      if (row === null) throw notFound('message')
      return success(inboxResponse(row))
    },
  })
}

const inboxResponse = (row: InboxRow): InboxMessage =>
  responseOf(INBOX_FIELDS, { ...row, isRead: row.readAt !== null })
