import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField, notFound } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  findInInbox,
  findMessage,
  type InboxRow,
  listInbox,
  listMessages,
  type MessageRow,
  recipientsOf,
  unreadCounts,
} from '#projections/messages/query.ts'
import {
  INBOX_FIELDS,
  MESSAGE_STATS_FIELDS,
  RECIPIENT_FIELDS,
  SENT_FIELDS,
} from '../contract/message-fields.ts'
import { type AdminMessage, type InboxMessage, messageQueries } from '../contract/messages.ts'
import { responseOf } from '../contract/resource-field-definition.ts'
import {
  type App,
  orderOf,
  pageOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'

/**
 * The routes for messages that admins have sent: the list, `search`, `{id}` and `{id}/recipients`.
 * Only admins may use these routes.
 */
export function sentMessages(app: App, deps: ReadDeps): void {
  const { core } = deps
  const routeOptions = { onRequest: onlyAdmin, preHandler: upToDate(deps, 'messages', 'users') }
  for (const name of ['GET /api/admin/messages', 'GET /api/admin/messages/search'] as const) {
    app.route({
      ...endpoint(messageQueries, name),
      ...routeOptions,

      handler: async ({ query }) => {
        const { page, ...slice } = pageOf(query)
        const { rows, total } = await listMessages(core.db, {
          ...slice,
          keyword: (query.keyword ?? '').trim(),
          from: parseTime('start_date', query.start_date),
          until: parseEndTime('end_date', query.end_date),
          ...orderOf(query),
        })
        return success({ items: rows.map(messageResponse), page, total })
      },
    })
  }
  app.route({
    ...endpoint(messageQueries, 'GET /api/admin/messages/:id'),
    ...routeOptions,
    handler: async ({ params }) => success(messageResponse(await findSentMessage(deps, params.id))),
  })
  app.route({
    ...endpoint(messageQueries, 'GET /api/admin/messages/:id/recipients'),
    ...routeOptions,
    handler: async ({ params, query }) => {
      const { id, total } = await findSentMessage(deps, params.id)
      const { page, ...slice } = pageOf(query)
      const { sort, order } = query
      const isDescending = sort ? order !== 'asc' : order === 'desc'
      const search = { ...slice, sort: sort || ('user_id' as const), isDescending }
      const rows = await recipientsOf(core.db, id, search)
      return success({ items: rows.map((row) => responseOf(RECIPIENT_FIELDS, row)), page, total })
    },
  })
}

async function findSentMessage({ core }: ReadDeps, id: string): Promise<MessageRow> {
  const row = await findMessage(core.db, Number(id))
  if (row === null) throw notFound('message')
  return row
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

const DAY_SECONDS = 86_400

/**
 * Converts the end of a range to Unix seconds. A date without a time means the last second of that
 * day. Returns null for an empty text.
 */
function parseEndTime(field: string, text = ''): number | null {
  const seconds = parseTime(field, text)
  return seconds === null || text.includes('T') ? seconds : seconds + DAY_SECONDS - 1
}

/**
 * Converts an ISO date (UTC) or an ISO time to Unix seconds. Returns null for an empty text. Throws
 * a 400 that names the field for any other text.
 */
function parseTime(field: string, text = ''): number | null {
  if (text === '') return null
  // A plus sign in a query is decoded as a space, unless the client has escaped the plus sign.
  const iso = text.replace(' ', '+')
  const milliseconds = ISO_TIME.test(iso) ? Date.parse(iso) : Number.NaN
  if (Number.isNaN(milliseconds)) {
    throw invalidField(field, { zh: '不是 ISO 格式的时间', en: 'is not an ISO time' })
  }
  return Math.floor(milliseconds / 1_000)
}

const messageResponse = (row: MessageRow): AdminMessage => ({
  ...responseOf(SENT_FIELDS, row),
  stats: responseOf(MESSAGE_STATS_FIELDS, row),
})

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
