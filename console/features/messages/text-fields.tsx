import { type ReactElement, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextArea, TextInput } from '#console/ui/inputs.tsx'
import { RichText } from '#console/ui/rich/rich-text.tsx'
import { Segmented } from '#console/ui/switches.tsx'
import type { MessageFaults, MessageText } from './message-draft.ts'

const PREVIEW_MS = 300

/** What readers will see. Drawn anew when typing pauses: each time it is a document of its own. */
function TextPreview({ text }: { text: MessageText }): ReactElement {
  const { t } = useTranslation()
  const [shown, setShown] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setShown(text), PREVIEW_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <section className="tg-message-preview" aria-label={t('messages.preview')}>
      <h3>{t('messages.preview')}</h3>
      <div className="tg-message-sheet">
        {shown.content.trim() === '' ? (
          <p className="tg-hint">{t('messages.previewEmpty')}</p>
        ) : shown.format === 'plain' ? (
          <p className="tg-message-plain">{shown.content}</p>
        ) : (
          <RichText
            text={shown.content}
            title={t('messages.preview')}
            isHtml={shown.format === 'html'}
          />
        )}
      </div>
    </section>
  )
}

const TITLE_MAX = 200
const CONTENT_MAX = 20_000

/** Title, format and content of a message, with what its readers will see. */
export function TextFields(props: {
  text: MessageText
  faults: MessageFaults
  onChange: (patch: Partial<MessageText>) => void
}): ReactElement {
  const { t } = useTranslation()
  const { text, faults, onChange } = props
  // A message that came as plain text by the API may stay so.
  const formats: MessageText['format'][] = ['markdown', 'html']
  if (text.format === 'plain') formats.push('plain')
  return (
    <>
      <FormField
        label={t('messages.messageTitle')}
        error={faults.title && t(`messages.${faults.title}`)}
        isRequired
      >
        {(control) => (
          <TextInput
            {...control}
            autoFocus
            autoComplete="off"
            maxLength={TITLE_MAX}
            value={text.title}
            onChange={(title) => onChange({ title })}
          />
        )}
      </FormField>
      <div className="tg-field">
        <span className="tg-label">{t('messages.format')}</span>
        <Segmented
          label={t('messages.format')}
          value={text.format}
          choices={formats.map((format) => ({
            value: format,
            label: t(`messages.formats.${format}`),
          }))}
          onChange={(format) => onChange({ format })}
        />
      </div>
      <FormField
        label={t('messages.content')}
        error={faults.content && t(`messages.${faults.content}`)}
        isRequired
      >
        {(control) => (
          <TextArea
            {...control}
            rows={8}
            isMono={text.format === 'html'}
            maxLength={CONTENT_MAX}
            value={text.content}
            onChange={(content) => onChange({ content })}
          />
        )}
      </FormField>
      <TextPreview text={text} />
    </>
  )
}
