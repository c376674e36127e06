import type { Fact } from '../shared/event.ts'

export const messageStream = (messageId: number): string => `message-${messageId}`

/**
 * Returns the name of a user's inbox stream. Each user has a separate stream, so that users who
 * read messages at the same time do not write to the same stream.
 */
export const inboxStream = (userId: number): string => `inbox-${userId}`

export type MessageFormat = 'markdown' | 'html' | 'plain'

/**
 * `textRef` is the vault reference of a message's title and content. Both are deleted from the
 * vault when the message is deleted.
 */
export type MessageText = {
  readonly format: MessageFormat
  readonly textRef: string
}

/** A message was sent. Users who register later do not receive it. */
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
 * The text of a message was changed for all recipients. The message stays read for recipients who
 * have already read it.
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

export type MessageRead = Fact<
  'MessageRead',
  { readonly messageId: number; readonly userId: number }
>

/** A range of user ids from `first` to `last`, both included. */
export type IdRange = readonly [first: number, last: number]

/**
 * Returns the ids as ascending ranges without duplicates. A message to all users has only a few
 * ranges.
 */
export function rangesOf(ids: readonly number[]): IdRange[] {
  const ranges: [number, number][] = []
  for (const id of [...ids].sort((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last !== undefined && id <= last[1] + 1) last[1] = Math.max(last[1], id)
    else ranges.push([id, id])
  }
  return ranges
}

export const countOf = (ranges: readonly IdRange[]): number =>
  ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)
