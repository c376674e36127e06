import { type ReactElement, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { RichText } from '#console/ui/rich/rich-text.tsx'
import type { MessageText } from './message-draft.ts'

const PREVIEW_MS = 300

/** What readers will see. Drawn anew when typing pauses: each time it is a document of its own. */
export function TextPreview({ text }: { text: MessageText }): ReactElement {
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
