import type { Fact } from '../shared/event.ts'
import type { IdRange } from './recipient-id-ranges.ts'

export const messageStream = (messageId: number): string => `message-${messageId}`

/**
 * Returns the name of a user's inbox stream. Each user has a separate stream, so that users who
 * read a message simultaneously do not write to the same stream.
 */
export const inboxStream = (userId: number): string => `inbox-${userId}`

export type MessageFormat = 'markdown' | 'html' | 'plain'

/**
 * The vault reference of a message's title and content. When a message is deleted, its title and
 * content are deleted from the vault.
 */
export type MessageText = {
  readonly format: MessageFormat
  readonly textRef: string
}

/** A message was sent to these recipients. Users who register later do not receive the message. */
export type MessageSent = Fact<
  'MessageSent',
  MessageText & {
    readonly messageId: number
    readonly recipients: readonly IdRange[]
    /** The number of users in `recipients`. */
    readonly total: number
  }
>

/**
 * The text of a message was edited. All recipients see the new text. The message stays read for
 * recipients who have read it.
 */
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
