import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { TextAreaField, TextField } from '#console/ui/forms/fields.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { bodyOf, type DraftOf, newDraft } from '#console/ui/forms/resource-draft.ts'
import type { DraftForm, FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { RichText } from '#console/ui/rich/rich-text.tsx'
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

const PREVIEW_MS = 300

/**
 * Shows a preview of the message. The preview is updated after a pause in typing, because each
 * update loads a document.
 */
function TextPreview({ text }: { text: MessageText }) {
  const { t } = useTranslation()
  const [previewed, setPreviewed] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPreviewed(text), PREVIEW_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <section className="tg-message-preview" aria-label={t('shared.preview')}>
      <h3>{t('shared.preview')}</h3>
      <div className="tg-message-sheet">
        {previewed.content.trim() === '' ? (
          <p className="tg-hint">{t('messages.previewEmpty')}</p>
        ) : previewed.format === 'plain' ? (
          <p className="tg-message-plain">{previewed.content}</p>
        ) : (
          <RichText
            text={previewed.content}
            title={t('shared.preview')}
            isHtml={previewed.format === 'html'}
          />
        )}
      </div>
    </section>
  )
}

export function MessageTextFields(props: {
  form: Pick<DraftForm<MessageText>, 'draft' | 'field'>
}) {
  const { t } = useTranslation()
  const { draft, field } = props.form
  // Plain text is offered only for messages that the API has created as plain text.
  const formats: MessageText['format'][] = ['markdown', 'html']
  if (draft.format === 'plain') formats.push('plain')
  return (
    <>
      <TextField
        label={t('messages.messageTitle')}
        isRequired
        autoFocus
        autoComplete="off"
        maxLength={MESSAGE_TERMS.title.maxLength}
        {...field('title')}
      />
      <div className="tg-field">
        <span className="tg-label">{t('shared.format')}</span>
        <Segmented
          label={t('shared.format')}
          choices={choicesOf(formats, (format) => t(`messages.formats.${format}`))}
          {...field('format')}
        />
      </div>
      <TextAreaField
        label={t('messages.content')}
        isRequired
        rows={8}
        isMono={draft.format === 'html'}
        maxLength={MESSAGE_TERMS.content.maxLength}
        {...field('content')}
      />
      <TextPreview text={draft} />
    </>
  )
}
