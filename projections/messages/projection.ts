import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MessageEvent, MessageRead, MessageText } from '#domain/messages/events.ts'
import { type FoldContext, projectionOf } from '../projection.ts'
import { secondsOf } from '../unix-seconds.ts'

/**
 * Messages, their recipients, and who has read them. Unread counts are computed from these tables.
 */
export const messages = projectionOf<MessageEvent | MessageRead>({
  name: 'messages',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    messages: { key: ['id'] },
    recipients: { key: ['message_id', 'first_id'] },
    reads: { key: ['user_id', 'message_id'] },
    // Several lanes change a row: the events of each reader are in the reader's own stream.
    read_counts: { key: ['message_id'], isShared: true },
  },
  handlers: {
    MessageSent: async ({ data, meta, position }, rows, context) => {
      const { messageId, recipients, total } = data
      const text = await textCells(messageId, data, context)
      const cells = { ...text, total, created_at: secondsOf(meta.at), changed_position: position }
      rows.insert('messages', { id: messageId }, cells)
      for (const [first_id, last_id] of recipients) {
        rows.insert('recipients', { message_id: messageId, first_id }, { last_id })
      }
    },
    MessageEdited: async ({ data, meta, position }, rows, context) => {
      const text = await textCells(data.messageId, data, context)
      const changed = { edited_at: secondsOf(meta.at), changed_position: position }
      rows.patch('messages', { id: data.messageId }, { ...text, ...changed })
    },
    MessageDeleted: ({ data, position }, rows) => {
      const erased = { title: '', content: '', is_deleted: true, changed_position: position }
      rows.patch('messages', { id: data.messageId }, erased)
    },
    MessageRead: ({ data, meta, position }, rows) => {
      const { userId: user_id, messageId: message_id } = data
      const cells = { read_at: secondsOf(meta.at), changed_position: position }
      rows.insert('reads', { user_id, message_id }, cells)
      rows.add('read_counts', { message_id }, { readers: 1n })
    },
  },
})

/**
 * Returns the columns for a message's text. The title and the content are empty if the vault no
 * longer contains the text.
 */
async function textCells(
  messageId: number,
  { format, textRef }: MessageText,
  { messageText }: FoldContext,
) {
  const text = await messageText(messageId, textRef)
  const { title, content } = text === '' ? { title: '', content: '' } : JSON.parse(text)
  return { title: String(title), content: String(content), format }
}
