import type { AdminMessage } from '#read-api/contract/messages.ts'
import type { CreateMessage } from '#write-api/contract/messages.ts'

export type Audience = 'users' | 'groups' | 'everybody'

export type MessageText = {
  readonly title: string
  readonly content: string
  readonly format: AdminMessage['format']
}

export type Chosen = {
  readonly audience: Audience
  /** By id, with the names to show. */
  readonly users: ReadonlyMap<number, string>
  readonly groups: readonly string[]
}

export type MessageFaults = {
  readonly title?: 'titleNeeded'
  readonly content?: 'contentNeeded'
  readonly recipients?: 'recipientNeeded'
}

export const NO_TEXT: MessageText = { title: '', content: '', format: 'markdown' }
export const NOBODY: Chosen = { audience: 'users', users: new Map(), groups: [] }

export function textFaults({ title, content }: MessageText): MessageFaults {
  return {
    ...(title.trim() === '' ? { title: 'titleNeeded' as const } : {}),
    ...(content.trim() === '' ? { content: 'contentNeeded' as const } : {}),
  }
}

export function recipientFaults({ audience, users, groups }: Chosen): MessageFaults {
  const hasSome = { users: users.size > 0, groups: groups.length > 0, everybody: true }[audience]
  return hasSome ? {} : { recipients: 'recipientNeeded' }
}

/** Trimmed, as it is sent. */
export const trimmed = ({ title, content, format }: MessageText): MessageText => ({
  title: title.trim(),
  content: content.trim(),
  format,
})

export const isSameText = (one: MessageText, other: MessageText): boolean =>
  one.title === other.title && one.content === other.content && one.format === other.format

/** To those of the audience alone that is chosen now. */
export function newMessage(text: MessageText, { audience, users, groups }: Chosen): CreateMessage {
  const to = {
    users: { user_ids: [...users.keys()] },
    groups: { groups: [...groups] },
    everybody: { everybody: true },
  }
  return { ...trimmed(text), ...to[audience] }
}
