import Type, { type Static } from 'typebox'
import { Envelope, IdParams, Page, Query, sortedBy } from './envelope.ts'

export const MessageFormat = Type.Union([
  Type.Literal('markdown'),
  Type.Literal('html'),
  Type.Literal('plain'),
])

/** A time in Unix seconds, or null. */
const time = Type.Union([Type.Integer(), Type.Null()])

/** The fields that recipients and admins see. Times are in Unix seconds. */
const message = {
  id: Type.Integer(),
  title: Type.String(),
  /** The text of the message. Lists contain at most its first 2 000 characters. */
  content: Type.String(),
  format: MessageFormat,
  created_at: Type.Integer(),
}

/** A message in the inbox of a recipient. */
export const InboxMessage = Type.Object({
  ...message,
  read_at: time,
  is_read: Type.Boolean(),
})
export type InboxMessage = Static<typeof InboxMessage>

export const UnreadCount = Type.Object({ unread_count: Type.Integer() })
export type UnreadCount = Static<typeof UnreadCount>

export const AdminMessage = Type.Object({
  ...message,
  /** The time of the last edit. null means that the message was never edited. */
  updated_at: time,
  stats: Type.Object({ total_recipients: Type.Integer(), read_count: Type.Integer() }),
})
export type AdminMessage = Static<typeof AdminMessage>

export const Recipient = Type.Object({
  user_id: Type.Integer(),
  /** The name of the user. It is empty if the user was erased. */
  username: Type.String(),
  display_name: Type.String(),
  read_at: time,
})
export type Recipient = Static<typeof Recipient>

/** The columns by which the list of messages can be sorted. */
const MESSAGE_SORTS = [
  'id',
  'title',
  'format',
  'total_recipients',
  'read_count',
  'created_at',
] as const
export type MessageSort = (typeof MESSAGE_SORTS)[number]

const SearchMessages = Type.Object({
  ...Query.page,
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
    querystring: Type.Object(Query.page),
    response: { 200: Envelope(Page(InboxMessage)) },
  },
  'GET /api/user/messages/unread_count': { response: { 200: Envelope(UnreadCount) } },
  'GET /api/user/messages/:id': { params: IdParams, response: { 200: Envelope(InboxMessage) } },
  'GET /api/admin/messages/:id': { params: IdParams, response: { 200: Envelope(AdminMessage) } },
  'GET /api/admin/messages/:id/recipients': {
    params: IdParams,
    querystring: Type.Object(Query.page),
    response: { 200: Envelope(Page(Recipient)) },
  },
}
