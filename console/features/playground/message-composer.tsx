import { type FormEvent, type KeyboardEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { TextArea } from '#console/ui/forms/inputs.tsx'
import type { Chat } from './use-chat.ts'

const ROWS_MAX = 8

type Props = {
  readonly chat: Chat
  /** True if the selected group and the selected model are loaded and available. */
  readonly isReady: boolean
  readonly hasNone: boolean
}

export function MessageComposer({ chat, isReady, hasNone }: Props) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  /**
   * True while a submitted message waits until the models have loaded and the user's tokens have
   * been checked. The message is then sent.
   */
  const [isWaiting, setWaiting] = useState(false)
  const canSend = !hasNone && !chat.isBusy && text.trim() !== ''
  const canSendNow = isReady && chat.canAsk
  const send = (): void => {
    setWaiting(canSend && !canSendNow)
    if (!canSend || !canSendNow) return
    chat.send(text.trim())
    setText('')
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once sending becomes possible
  useEffect(() => {
    if (isWaiting) send()
  }, [canSendNow, hasNone])
  const onKeyDown = (event: KeyboardEvent): void => {
    // The Enter key that confirms text of an input method (IME) must not send the message.
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && chat.isBusy) chat.stop()
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    send()
  }
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault()
    send()
  }
  return (
    <form className="tg-composer" onSubmit={onSubmit}>
      <TextArea
        aria-label={t('shared.message')}
        placeholder={t('playground.messagePlaceholder')}
        rows={Math.min(ROWS_MAX, Math.max(2, text.split('\n').length))}
        value={text}
        onChange={setText}
        onKeyDown={onKeyDown}
      />
      {chat.isBusy ? (
        <Button icon="pause" onClick={chat.stop}>
          {t('shared.stop')}
        </Button>
      ) : (
        <Button
          type="submit"
          tone="primary"
          icon="send"
          isBusy={isWaiting && !canSendNow}
          isDisabled={!canSend}
        >
          {t('shared.send')}
        </Button>
      )}
    </form>
  )
}
