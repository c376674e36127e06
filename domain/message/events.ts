import type { Fact } from '../shared/event.ts'
import type { IdRange } from './recipients.ts'

export const messageStream = (messageId: number): string => `message-${messageId}`

/** Of one reader: fifty who read one message at once write fifty streams. */
export const inboxStream = (userId: number): string => `inbox-${userId}`

export type MessageFormat = 'markdown' | 'html' | 'plain'

/** Title and content are in the vault, under a reference: who deletes them deletes them there. */
export type MessageText = {
  readonly format: MessageFormat
  readonly textRef: string
}

/** Sent to all of these at once: whoever comes later is not among them. */
export type MessageSent = Fact<
  'MessageSent',
  MessageText & {
    readonly messageId: number
    readonly recipients: readonly IdRange[]
    /** How many users that is. */
    readonly total: number
  }
>

/** Everybody who has it sees the new text; who has read it has read it. */
export type MessageEdited = Fact<
  'MessageEdited',
  MessageText & { readonly messageId: number; readonly droppedTextRef: string }
>

export type MessageDeleted = Fact<
  'MessageDeleted',
  { readonly messageId: number; readonly droppedTextRef: string }
>

export type MessageEvent = MessageSent | MessageEdited | MessageDeleted

/** A user opened a message for the first time. */
export type MessageRead = Fact<
  'MessageRead',
  { readonly messageId: number; readonly userId: number }
>
