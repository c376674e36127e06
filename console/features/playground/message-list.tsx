import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { useStableCallbacks } from '#console/ui/state/use-stable-callbacks.ts'
import type { Conversation } from './conversation.ts'
import { MessageItem } from './message-item.tsx'
import type { Chat } from './use-chat.ts'

/**
 * The maximum distance (px) from the end at which the list follows new text. At a greater distance,
 * the user is reading older messages.
 */
const NEAR_END_PX = 80

export function MessageList(props: { conversation: Conversation; chat: Chat }) {
  const { t } = useTranslation()
  const { messages } = props.conversation
  const list = useScrollToEnd(props.conversation)
  const { retry, edit, remove } = props.chat
  const actions = useStableCallbacks({ retry, edit, remove })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it
    <section className="tg-talk" ref={list} tabIndex={0} aria-label={t('playground.conversation')}>
      <h2 className="tg-visually-hidden">{t('playground.conversation')}</h2>
      {messages.length === 0 ? (
        <EmptyState icon="chat" title={t('playground.empty')} body={t('playground.emptyLead')} />
      ) : (
        <ol className="tg-talk-list">
          {messages.map((message) => (
            <MessageItem
              key={message.id}
              message={message}
              isBusy={props.chat.isBusy || !props.chat.canAsk}
              actions={actions}
            />
          ))}
        </ol>
      )}
    </section>
  )
}

/** Scrolls to the end when text arrives, unless the user has scrolled up to read older messages. */
function useScrollToEnd({ id, messages }: Conversation) {
  const list = useRef<HTMLElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = list.current
    const updateIsAtEnd = () => {
      if (element === null) return
      const below = element.scrollHeight - element.scrollTop - element.clientHeight
      isAtEnd.current = below < NEAR_END_PX
    }
    element?.addEventListener('scroll', updateIsAtEnd, { passive: true })
    return () => element?.removeEventListener('scroll', updateIsAtEnd)
  }, [])
  const count = messages.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for every new message
  useEffect(() => {
    isAtEnd.current = true
  }, [id, count])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for every change of the messages
  useEffect(() => {
    if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight })
  }, [id, messages])
  return list
}
