import Type, { type Static } from 'typebox'
import {
  INBOX_FIELDS,
  MESSAGE_STATS_FIELDS,
  RECIPIENT_FIELDS,
  SENT_FIELDS,
} from './message-fields.ts'
import { IdParams, Query, sortedBy } from './request-parameters.ts'
import { Envelope, Page } from './response-envelope.ts'
import { responseProperties } from './schemas-from-field-definitions.ts'

export const InboxMessage = Type.Object(responseProperties(INBOX_FIELDS))
export type InboxMessage = Static<typeof InboxMessage>

export const UnreadCount = Type.Object({ unread_count: Type.Integer() })
export type UnreadCount = Static<typeof UnreadCount>

export const AdminMessage = Type.Object({
  ...responseProperties(SENT_FIELDS),
  stats: Type.Object(responseProperties(MESSAGE_STATS_FIELDS)),
})
export type AdminMessage = Static<typeof AdminMessage>

export const Recipient = Type.Object(responseProperties(RECIPIENT_FIELDS))
export type Recipient = Static<typeof Recipient>

const MESSAGE_SORTS = [
  'id',
  'title',
  'format',
  'total_recipients',
  'read_count',
  'created_at',
] as const
export type MessageSort = (typeof MESSAGE_SORTS)[number]

const INBOX_SORTS = ['id', 'title', 'is_read', 'created_at'] as const
export type InboxSort = (typeof INBOX_SORTS)[number]

const RECIPIENT_SORTS = ['user_id', 'username', 'display_name', 'read_at'] as const
export type RecipientSort = (typeof RECIPIENT_SORTS)[number]

const SearchMessages = Type.Object({
  ...Query.keysetPage,
  keyword: Query.text,
  start_date: Query.text,
  end_date: Query.text,
  ...sortedBy(MESSAGE_SORTS),
})

const listMessages = {
  querystring: SearchMessages,
  response: { 200: Envelope(Page(AdminMessage)) },
}

export const messageQueries = {
  'GET /api/admin/messages': listMessages,
  'GET /api/admin/messages/search': listMessages,
  'GET /api/user/messages': {
    querystring: Type.Object({ ...Query.keysetPage, ...sortedBy(INBOX_SORTS) }),
    response: { 200: Envelope(Page(InboxMessage)) },
  },
  'GET /api/user/messages/unread_count': { response: { 200: Envelope(UnreadCount) } },
  'GET /api/user/messages/:id': { params: IdParams, response: { 200: Envelope(InboxMessage) } },
  'GET /api/admin/messages/:id': { params: IdParams, response: { 200: Envelope(AdminMessage) } },
  'GET /api/admin/messages/:id/recipients': {
    params: IdParams,
    /** A list without `sort` is ordered by user id, lowest first. */
    querystring: Type.Object({ ...Query.keysetPage, ...sortedBy(RECIPIENT_SORTS) }),
    response: { 200: Envelope(Page(Recipient)) },
  },
}
