import { type KeyboardEvent, memo, type RefObject, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { TextArea } from '#console/ui/forms/inputs.tsx'
import { exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { AnswerBody } from './answer-body.tsx'
import { type ChatMessage, isStreaming } from './conversation.ts'
import type { Chat } from './use-chat.ts'

const logPath = (call = ''): string => `/app/logs/api-usage?range=all&request=${call}`

function AnswerFacts({ message }: { message: ChatMessage }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const number = new Intl.NumberFormat(useLocale())
  const { cost, firstMs, totalMs } = message
  if (isStreaming(message)) return null
  return (
    <p className="tg-answer-facts">
      {cost === undefined ? (
        <PendingCost message={message} />
      ) : (
        <>
          <Link
            to={logPath(message.call)}
            className="tg-answer-cost"
            title={t('playground.openInLog')}
          >
            {exactQuotaText(BigInt(cost.quota), rule)}
          </Link>
          <span>
            {t('playground.tokens', {
              input: number.format(cost.promptTokens),
              output: number.format(cost.completionTokens),
            })}
          </span>
        </>
      )}
      {firstMs !== undefined && (
        <span>{t('playground.timeToFirstWord', { seconds: seconds(firstMs) })}</span>
      )}
      {totalMs !== undefined && (
        <span>{t('playground.totalTime', { seconds: seconds(totalMs) })}</span>
      )}
    </p>
  )
}

/** The content in place of the cost of an answer while the cost is unknown. */
function PendingCost({ message }: { message: ChatMessage }) {
  const { t } = useTranslation()
  if (message.call === undefined || message.status === 'error') return null
  if (message.isCostLate !== true) return <span>{t('playground.costPending')}</span>
  return <Link to={logPath(message.call)}>{t('playground.openInLog')}</Link>
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(ms < 9_950 ? 1 : 0)

const moveCaretToEnd = (node: HTMLTextAreaElement | null): void =>
  node?.setSelectionRange(node.value.length, node.value.length)

function MessageEditor(props: {
  message: ChatMessage
  onSave: (text: string) => void
  onCancel: () => void
}) {
  const { t } = useTranslation()
  const [text, setText] = useState(props.message.content)
  const isUser = props.message.role === 'user'
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') props.onCancel()
  }
  return (
    <div className="tg-chat-message-editor">
      <TextArea
        autoFocus
        ref={moveCaretToEnd}
        aria-label={t('ui.editRow')}
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
          {isUser ? t('playground.saveAndSend') : t('shared.save')}
        </Button>
      </div>
    </div>
  )
}

type MessageHandlers = Pick<Chat, 'retry' | 'edit' | 'remove'>

type MessageProps = { message: ChatMessage; isBusy: boolean; actions: MessageHandlers }

export const MessageItem = memo(function MessageItem(props: MessageProps) {
  const { t } = useTranslation()
  const { message, actions } = props
  const [isEdited, setEdited] = useState(false)
  const editButton = useEditFocus(isEdited, props.isBusy)
  const isUser = message.role === 'user'
  const change = (text: string): void => {
    setEdited(false)
    actions.edit(message, text)
  }
  return (
    <li className="tg-chat-message" data-status={message.status}>
      <span className="tg-chat-message-author">
        {isUser ? t('playground.you') : (message.model ?? t('playground.answer'))}
      </span>
      {isEdited ? (
        <MessageEditor message={message} onSave={change} onCancel={() => setEdited(false)} />
      ) : (
        <>
          {isUser ? (
            <p className="tg-chat-message-text">{message.content}</p>
          ) : (
            <AnswerBody {...message} />
          )}
          <div className="tg-chat-message-foot">
            {!isUser && <AnswerFacts message={message} />}
            {!isStreaming(message) && (
              <MessageButtons {...props} editButton={editButton} onEdit={() => setEdited(true)} />
            )}
          </div>
        </>
      )}
    </li>
  )
})

/**
 * Moves the focus back to the edit button when editing ends, unless the user has moved the focus
 * elsewhere.
 */
function useEditFocus(isEdited: boolean, isBusy: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  const mustReturnFocus = useRef(false)
  useEffect(() => {
    if (isEdited) mustReturnFocus.current = true
    if (isEdited || !mustReturnFocus.current) return
    const focused = document.activeElement
    if (focused !== document.body && focused !== button.current) mustReturnFocus.current = false
    else if (!isBusy) button.current?.focus({ preventScroll: true })
  }, [isEdited, isBusy])
  return button
}

function MessageButtons(
  props: MessageProps & { editButton: RefObject<HTMLButtonElement | null>; onEdit: () => void },
) {
  const { t } = useTranslation()
  const { message, isBusy, actions } = props
  const shared = { tone: 'quiet', size: 'small', isDisabled: isBusy } as const
  return (
    <div className="tg-chat-message-actions">
      {message.content !== '' && <CopyButton text={message.content} label={t('ui.copy')} />}
      <Button
        {...shared}
        icon="refresh"
        label={t('playground.retry')}
        onClick={() => actions.retry(message)}
      />
      <Button
        {...shared}
        ref={props.editButton}
        icon="edit"
        label={t('ui.editRow')}
        onClick={props.onEdit}
      />
      <Button
        {...shared}
        icon="trash"
        label={t('shared.delete')}
        onClick={() => actions.remove(message)}
      />
    </div>
  )
}
