import { type Fields, writableFields } from './resource-field-definition.ts'

/** The fields of a message that both recipients and admins see. Times are in Unix seconds. */
export const MESSAGE_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  title: { wire: 'title', type: 'text', maxLength: 200, initial: '', isRequired: true },
  /** The text of the message. In lists, the text is cut after 2 000 characters. */
  content: { wire: 'content', type: 'text', maxLength: 20_000, initial: '', isRequired: true },
  /**
   * The format of the text. If a request that edits a message contains no format, the format is not
   * changed.
   */
  format: {
    wire: 'format',
    type: 'choice',
    values: ['markdown', 'html', 'plain'],
    initial: 'markdown',
  },
  createdAt: { wire: 'created_at', type: 'integer', access: 'read' },
} as const satisfies Fields

export const MESSAGE_TERMS = writableFields(MESSAGE_FIELDS)

export const INBOX_FIELDS = {
  ...MESSAGE_FIELDS,
  readAt: { wire: 'read_at', type: 'nullableInteger', access: 'read' },
  isRead: { wire: 'is_read', type: 'flag', access: 'read', isComputed: true },
} as const satisfies Fields

/**
 * The fields of a message that admins see. Responses also contain the counts in
 * `MESSAGE_STATS_FIELDS`, in the member `stats`.
 */
export const SENT_FIELDS = {
  ...MESSAGE_FIELDS,
  /** The time at which the message was last edited, or null if it was never edited. */
  editedAt: { wire: 'updated_at', type: 'nullableInteger', access: 'read' },
} as const satisfies Fields

export const MESSAGE_STATS_FIELDS = {
  total: { wire: 'total_recipients', type: 'integer', access: 'read' },
  readers: { wire: 'read_count', type: 'integer', access: 'read' },
} as const satisfies Fields

export const RECIPIENT_FIELDS = {
  userId: { wire: 'user_id', type: 'integer', access: 'read' },
  /** The name of the recipient. Empty if the user's data was erased. */
  username: { wire: 'username', type: 'text', access: 'read' },
  displayName: { wire: 'display_name', type: 'text', access: 'read' },
  readAt: { wire: 'read_at', type: 'nullableInteger', access: 'read' },
} as const satisfies Fields
