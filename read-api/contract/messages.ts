import Type, { type Static } from 'typebox'

const format = Type.Union([Type.Literal('markdown'), Type.Literal('html'), Type.Literal('plain')])

/** Unix seconds, or null. */
const time = Type.Union([Type.Integer(), Type.Null()])

/** A message in a recipient's inbox. Times are in Unix seconds. */
export const InboxMessage = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  /** Truncated to 2 000 characters in lists. */
  content: Type.String(),
  format,
  created_at: Type.Integer(),
  read_at: time,
  is_read: Type.Boolean(),
})
export type InboxMessage = Static<typeof InboxMessage>

export const UnreadCount = Type.Object({ unread_count: Type.Integer() })
export type UnreadCount = Static<typeof UnreadCount>

export const AdminMessage = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  /** Truncated to 2 000 characters in lists. */
  content: Type.String(),
  format,
  created_at: Type.Integer(),
  /** null if it was never edited. */
  updated_at: time,
  stats: Type.Object({ total_recipients: Type.Integer(), read_count: Type.Integer() }),
})
export type AdminMessage = Static<typeof AdminMessage>

export const Recipient = Type.Object({
  user_id: Type.Integer(),
  /** Empty once the user was erased. */
  username: Type.String(),
  display_name: Type.String(),
  read_at: time,
})
export type Recipient = Static<typeof Recipient>
