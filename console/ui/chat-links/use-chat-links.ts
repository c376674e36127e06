import { useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { storedChats, takeChatsError, useStatus } from '#console/api/status.ts'
import { showError } from '../messages/toast.ts'
import { type ChatLink, chatLinks } from './chat-links.ts'

/**
 * Returns the chat clients of the option `Chats`, without those of `chat_link` and `chat_link2`.
 * Until the site's status has loaded, returns those that this browser stored at the last visit. If
 * the stored list is malformed, shows an error once.
 */
export function useChatLinks(): readonly ChatLink[] {
  const { t } = useTranslation()
  const chats = useStatus()?.chats ?? storedChats()
  useEffect(() => {
    if (takeChatsError()) showError(t('chat.unreadable'))
  }, [t])
  return useMemo(() => chatLinks(Array.isArray(chats) ? chats : []), [chats])
}
