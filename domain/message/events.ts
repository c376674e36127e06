import type { Fact } from '../shared/event.ts'
import type { IdRange } from './recipients.ts'

export const messageStream = (messageId: number): string => `message-${messageId}`

/**
 * Each reader has one stream, so that fifty users who read one message at once write to fifty
 * streams.
 */
export const inboxStream = (userId: number): string => `inbox-${userId}`

export type MessageFormat = 'markdown' | 'html' | 'plain'

/**
 * Title and content are in the vault under this reference; deleting a message deletes them there.
 */
export type MessageText = {
  readonly format: MessageFormat
  readonly textRef: string
}

/** The message was sent to these recipients. Users who register later are not among them. */
export type MessageSent = Fact<
  'MessageSent',
  MessageText & {
    readonly messageId: number
    readonly recipients: readonly IdRange[]
    /** The number of users in `recipients`. */
    readonly total: number
  }
>

/** All recipients see the new text. Those who had read the message do not have to read it again. */
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
