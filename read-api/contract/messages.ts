import Type, { type Static } from 'typebox'

const format = Type.Union([Type.Literal('markdown'), Type.Literal('html'), Type.Literal('plain')])

/** Unix seconds, or null. */
const time = Type.Union([Type.Integer(), Type.Null()])

/** A message as one of its recipients has it. Times in unix seconds. */
export const InboxMessage = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  /** In lists its first 2 000 characters. */
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
  /** In lists its first 2 000 characters. */
  content: Type.String(),
  format,
  created_at: Type.Integer(),
  /** null: never edited. */
  updated_at: time,
  stats: Type.Object({ total_recipients: Type.Integer(), read_count: Type.Integer() }),
})
export type AdminMessage = Static<typeof AdminMessage>

export const Recipient = Type.Object({
  user_id: Type.Integer(),
  /** Empty once the person was erased. */
  username: Type.String(),
  display_name: Type.String(),
  read_at: time,
})
export type Recipient = Static<typeof Recipient>
