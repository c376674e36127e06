import type { Fact } from '../shared/event.ts'
import type { IdRange } from './recipient-id-ranges.ts'

export const messageStream = (messageId: number): string => `message-${messageId}`

/**
 * Each user has a separate inbox stream, so that users who read messages at the same time do not
 * write to the same stream.
 */
export const inboxStream = (userId: number): string => `inbox-${userId}`

export type MessageFormat = 'markdown' | 'html' | 'plain'

/**
 * The vault reference of a title and content, which are deleted from the vault with the message.
 */
export type MessageText = {
  readonly format: MessageFormat
  readonly textRef: string
}

/** Users who register later do not receive the message. */
export type MessageSent = Fact<
  'MessageSent',
  MessageText & {
    readonly messageId: number
    readonly recipients: readonly IdRange[]
    /** The number of users in `recipients`. */
    readonly total: number
  }
>

/** All recipients see the new text. The message stays read for recipients who have read it. */
export type MessageEdited = Fact<
  'MessageEdited',
  MessageText & { readonly messageId: number; readonly droppedTextRef: string }
>

export type MessageDeleted = Fact<
  'MessageDeleted',
  { readonly messageId: number; readonly droppedTextRef: string }
>

export type MessageEvent = MessageSent | MessageEdited | MessageDeleted

export type MessageRead = Fact<
  'MessageRead',
  { readonly messageId: number; readonly userId: number }
>
