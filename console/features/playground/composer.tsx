import { type FormEvent, type KeyboardEvent, type ReactElement, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { TextArea } from '#console/ui/inputs.tsx'
import type { Chat } from './use-chat.ts'

const ROWS_MAX = 8

type Props = {
  readonly chat: Chat
  /** Group and model are chosen of those that there are. */
  readonly isReady: boolean
  /** There is no model to ask: nothing will ever be ready. */
  readonly hasNone: boolean
}

/** Where the next message is written. Enter sends it, with Shift it is a new line. */
export function Composer({ chat, isReady, hasNone }: Props): ReactElement {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  /** Sent before it was known what may be asked, and whether: then it goes once it may. */
  const [isWaiting, setWaiting] = useState(false)
  const canSend = !hasNone && !chat.isBusy && text.trim() !== ''
  const canGo = isReady && chat.canAsk
  const send = (): void => {
    setWaiting(canSend && !canGo)
    if (!canSend || !canGo) return
    chat.send(text.trim())
    setText('')
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: as soon as it may be asked
  useEffect(() => {
    if (isWaiting) send()
  }, [canGo, hasNone])
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
          isBusy={isWaiting && !canGo}
          isDisabled={!canSend}
        >
          {t('words.send')}
        </Button>
      )}
    </form>
  )
}
