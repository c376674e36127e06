import { bodyOf, type DraftOf, newDraft } from '#console/ui/forms/resource-draft.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { MESSAGE_TERMS } from '#read-api/contract/message-fields.ts'
import type { CreateMessage } from '#write-api/contract/messages.ts'

export type Audience = 'users' | 'groups' | 'everybody'

export type MessageText = DraftOf<typeof MESSAGE_TERMS>

export type Recipients = {
  readonly audience: Audience
  /** The display names of the selected users, by user id. */
  readonly users: ReadonlyMap<number, string>
  readonly groups: readonly string[]
}

export type MessageErrorKey = 'titleRequired' | 'contentRequired' | 'recipientRequired'

export const NO_TEXT = newDraft(MESSAGE_TERMS)
export const NO_RECIPIENTS: Recipients = { audience: 'users', users: new Map(), groups: [] }

export const validateText = (text: MessageText): FieldErrors<MessageText, MessageErrorKey> => ({
  ...(text.title.trim() === '' ? { title: 'titleRequired' } : {}),
  ...(text.content.trim() === '' ? { content: 'contentRequired' } : {}),
})

export function validateRecipients(
  recipients: Recipients,
): FieldErrors<Recipients, MessageErrorKey> {
  const { audience, users, groups } = recipients
  const hasRecipients = { users: users.size > 0, groups: groups.length > 0, everybody: true }[
    audience
  ]
  return hasRecipients ? {} : { audience: 'recipientRequired' }
}

export function newMessage(draft: MessageText & Recipients): CreateMessage {
  const { audience, users, groups } = draft
  const recipientFields = {
    users: { user_ids: [...users.keys()] },
    groups: { groups: [...groups] },
    everybody: { everybody: true },
  }
  return { ...bodyOf(MESSAGE_TERMS, draft), ...recipientFields[audience] }
}
