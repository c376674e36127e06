import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { invalidField, notFound } from '#infra/http/http-errors.ts'
import {
  findMessage,
  listMessages,
  type MessageRow,
  type RecipientRow,
  recipientsOf,
} from '#projections/messages/query.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { AdminMessage, Recipient } from '../contract/messages.ts'
import { type App, IdParams, pageOf, Query, type ReadDeps, upToDate } from '../question.ts'

const SearchMessages = Type.Object({
  ...Query.page,
  keyword: Query.text,
  start_date: Query.text,
  end_date: Query.text,
})

/** What was sent, for admins: the list, `search`, one by `{id}`, and its `recipients`. */
export function sentMessages(app: App, deps: ReadDeps): void {
  const { core } = deps
  const asked = { onRequest: onlyAdmin, preHandler: upToDate(deps, 'messages', 'users') }
  for (const path of ['/api/admin/messages', '/api/admin/messages/search']) {
    app.get(
      path,
      {
        ...asked,
        schema: { querystring: SearchMessages, response: { 200: Envelope(Page(AdminMessage)) } },
      },
      async ({ query }) => {
        const { page, ...slice } = pageOf(query)
        const { rows, total } = await listMessages(core.db, {
          ...slice,
          keyword: (query.keyword ?? '').trim(),
          from: secondsIn('start_date', query.start_date),
          until: endIn('end_date', query.end_date),
        })
        return success({ items: rows.map(sentAnswer), page, total })
      },
    )
  }
  app.get(
    '/api/admin/messages/:id',
    { ...asked, schema: { params: IdParams, response: { 200: Envelope(AdminMessage) } } },
    async ({ params }) => success(sentAnswer(await sent(deps, params.id))),
  )
  app.get(
    '/api/admin/messages/:id/recipients',
    {
      ...asked,
      schema: {
        params: IdParams,
        querystring: Type.Object(Query.page),
        response: { 200: Envelope(Page(Recipient)) },
      },
    },
    async ({ params, query }) => {
      const { id, total } = await sent(deps, params.id)
      const { page, ...slice } = pageOf(query)
      const rows = await recipientsOf(core.db, id, slice)
      return success({ items: rows.map(recipientAnswer), page, total })
    },
  )
}

async function sent({ core }: ReadDeps, id: string): Promise<MessageRow> {
  const row = await findMessage(core.db, Number(id))
  if (row === null) throw notFound({ zh: '消息不存在', en: 'No such message' })
  return row
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

const DAY_SECONDS = 86_400

/** As `secondsIn`; a date without a time is that whole day. */
function endIn(field: string, given = ''): number | null {
  const seconds = secondsIn(field, given)
  return seconds === null || given.includes('T') ? seconds : seconds + DAY_SECONDS - 1
}

/** An ISO date (of UTC) or time in unix seconds; null when it was left out or empty. */
function secondsIn(field: string, given = ''): number | null {
  if (given === '') return null
  // A query's plus that was not escaped is a space by now.
  const text = given.replace(' ', '+')
  const milliseconds = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(milliseconds)) {
    throw invalidField(field, { zh: '不是 ISO 格式的时间', en: 'is no ISO time' })
  }
  return Math.floor(milliseconds / 1_000)
}

const sentAnswer = (row: MessageRow): AdminMessage => ({
  id: row.id,
  title: row.title,
  content: row.content,
  format: row.format,
  created_at: row.createdAt,
  updated_at: row.editedAt,
  stats: { total_recipients: row.total, read_count: row.readers },
})

const recipientAnswer = (row: RecipientRow): Recipient => ({
  user_id: row.userId,
  username: row.username,
  display_name: row.displayName,
  read_at: row.readAt,
})
