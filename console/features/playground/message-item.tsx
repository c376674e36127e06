import { memo, type ReactElement, type RefObject, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { CopyButton } from '#console/ui/copy-button.tsx'
import { AnswerBody } from './answer-body.tsx'
import { AnswerFacts } from './answer-facts.tsx'
import { type ChatMessage, isUnderWay } from './conversation.ts'
import { MessageEditor } from './message-editor.tsx'
import type { Chat } from './use-chat.ts'

export type MessageActs = Pick<Chat, 'retry' | 'edit' | 'remove'>

type MessageProps = { message: ChatMessage; isBusy: boolean; acts: MessageActs }

/** One thing that was said. Drawn anew only when something of it changed. */
export const MessageItem = memo(function MessageItem(props: MessageProps): ReactElement {
  const { t } = useTranslation()
  const { message, acts } = props
  const [isEdited, setEdited] = useState(false)
  const editButton = useEditFocus(isEdited, props.isBusy)
  const isUser = message.role === 'user'
  const change = (text: string): void => {
    setEdited(false)
    acts.edit(message, text)
  }
  return (
    <li className={isUser ? 'tg-said tg-said-user' : 'tg-said'} data-status={message.status}>
      <span className="tg-said-who">
        {isUser ? t('playground.you') : (message.model ?? t('playground.answer'))}
      </span>
      {isEdited ? (
        <MessageEditor message={message} onSave={change} onCancel={() => setEdited(false)} />
      ) : (
        <>
          {isUser ? <p className="tg-said-text">{message.content}</p> : <AnswerBody {...message} />}
          <div className="tg-said-foot">
            {!isUser && <AnswerFacts message={message} />}
            {!isUnderWay(message) && (
              <Acts {...props} editButton={editButton} onEdit={() => setEdited(true)} />
            )}
          </div>
        </>
      )}
    </li>
  )
})

/**
 * The editor takes the focus with it: its button gets it back, also where it can be pressed only
 * after the answer, unless the reader went elsewhere.
 */
function useEditFocus(isEdited: boolean, isBusy: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  const isOwed = useRef(false)
  useEffect(() => {
    if (isEdited) isOwed.current = true
    if (isEdited || !isOwed.current) return
    const focused = document.activeElement
    if (focused !== document.body && focused !== button.current) isOwed.current = false
    else if (!isBusy) button.current?.focus({ preventScroll: true })
  }, [isEdited, isBusy])
  return button
}

function Acts(
  props: MessageProps & { editButton: RefObject<HTMLButtonElement | null>; onEdit: () => void },
): ReactElement {
  const { t } = useTranslation()
  const { message, isBusy, acts } = props
  const shared = { tone: 'quiet', size: 'small', isDisabled: isBusy } as const
  return (
    <div className="tg-said-acts">
      {message.content !== '' && <CopyButton text={message.content} label={t('playground.copy')} />}
      <Button
        {...shared}
        icon="refresh"
        label={t('playground.retry')}
        onClick={() => acts.retry(message)}
      />
      <Button
        {...shared}
        ref={props.editButton}
        icon="edit"
        label={t('playground.edit')}
        onClick={props.onEdit}
      />
      <Button
        {...shared}
        icon="trash"
        label={t('playground.remove')}
        onClick={() => acts.remove(message)}
      />
    </div>
  )
}
