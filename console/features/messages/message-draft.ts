import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
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
  /** The selected users: display names by user id. */
  readonly users: ReadonlyMap<number, string>
  readonly groups: readonly string[]
}

export type MessageFault = 'titleNeeded' | 'contentNeeded' | 'recipientNeeded'

export const NO_TEXT: MessageText = { title: '', content: '', format: 'markdown' }
export const NO_RECIPIENTS: Chosen = { audience: 'users', users: new Map(), groups: [] }

export const textFaults = (text: MessageText): FieldErrors<MessageText, MessageFault> => ({
  ...(text.title.trim() === '' ? { title: 'titleNeeded' } : {}),
  ...(text.content.trim() === '' ? { content: 'contentNeeded' } : {}),
})

export function recipientFaults(chosen: Chosen): FieldErrors<Chosen, MessageFault> {
  const { audience, users, groups } = chosen
  const hasSome = { users: users.size > 0, groups: groups.length > 0, everybody: true }[audience]
  return hasSome ? {} : { audience: 'recipientNeeded' }
}

export const trimmed = ({ title, content, format }: MessageText): MessageText => ({
  title: title.trim(),
  content: content.trim(),
  format,
})

export function newMessage(draft: MessageText & Chosen): CreateMessage {
  const { audience, users, groups } = draft
  const to = {
    users: { user_ids: [...users.keys()] },
    groups: { groups: [...groups] },
    everybody: { everybody: true },
  }
  return { ...trimmed(draft), ...to[audience] }
}
