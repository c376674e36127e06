import { type KeyboardEvent, type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { TextArea } from '#console/ui/inputs.tsx'
import type { ChatMessage } from './conversation.ts'

/** What is typed goes on where the text ends. */
const toEnd = (node: HTMLTextAreaElement | null): void =>
  node?.setSelectionRange(node.value.length, node.value.length)

/** Another text in a message's place. Of the user's own, it is asked anew. */
export function MessageEditor(props: {
  message: ChatMessage
  onSave: (text: string) => void
  onCancel: () => void
}): ReactElement {
  const { t } = useTranslation()
  const [text, setText] = useState(props.message.content)
  const isUser = props.message.role === 'user'
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') props.onCancel()
  }
  return (
    <div className="tg-said-editor">
      <TextArea
        autoFocus
        ref={toEnd}
        aria-label={t('playground.edit')}
        rows={Math.min(12, text.split('\n').length + 1)}
        value={text}
        onChange={setText}
        onKeyDown={onKeyDown}
      />
      {isUser && <p className="tg-hint">{t('playground.editHint')}</p>}
      <div className="tg-actions">
        <Button size="small" onClick={props.onCancel}>
          {t('ui.cancel')}
        </Button>
        <Button
          size="small"
          tone="primary"
          isDisabled={text.trim() === ''}
          onClick={() => props.onSave(text.trim())}
        >
          {isUser ? t('playground.saveAndSend') : t('playground.save')}
        </Button>
      </div>
    </div>
  )
}
