import { type FormEvent, type KeyboardEvent, type ReactElement, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { TextArea } from '#console/ui/inputs.tsx'
import type { Chat } from './use-chat.ts'

const ROWS_MAX = 8

/** Where the next message is written. Enter sends it, with Shift it is a new line. */
export function Composer({ chat, isReady }: { chat: Chat; isReady: boolean }): ReactElement {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  /** Sent before it was known whether anything may be asked: then it goes once it may. */
  const [isWaiting, setWaiting] = useState(false)
  const canSend = isReady && !chat.isBusy && text.trim() !== ''
  const send = (): void => {
    if (!canSend) return
    setWaiting(!chat.canAsk)
    if (!chat.canAsk) return
    chat.send(text.trim())
    setText('')
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: as soon as it may be asked
  useEffect(() => {
    if (isWaiting) send()
  }, [chat.canAsk])
  const onKeyDown = (event: KeyboardEvent): void => {
    // NOTE: Enter that ends the writing of a Chinese word is not ours.
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
        aria-label={t('playground.message')}
        placeholder={t('playground.messagePlaceholder')}
        rows={Math.min(ROWS_MAX, Math.max(2, text.split('\n').length))}
        value={text}
        onChange={setText}
        onKeyDown={onKeyDown}
      />
      {chat.isBusy ? (
        <Button icon="pause" onClick={chat.stop}>
          {t('playground.stop')}
        </Button>
      ) : (
        <Button
          type="submit"
          tone="primary"
          icon="send"
          isBusy={isWaiting && !chat.canAsk}
          isDisabled={!canSend}
        >
          {t('playground.send')}
        </Button>
      )}
    </form>
  )
}
