import { useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { storedChats, takeChatsFault, useStatus } from '#console/api/status.ts'
import { showError } from '../messages/toast.ts'
import { type ChatLink, chatLinks } from './chat-links.ts'

/**
 * Links to the chat clients that the site has configured. Until the site's status is loaded, these
 * are the links of the last visit. When the configured list cannot be parsed, a toast reports it
 * once.
 */
export function useChats(): readonly ChatLink[] {
  const { t } = useTranslation()
  const chats = useStatus()?.chats ?? storedChats()
  useEffect(() => {
    if (takeChatsFault()) showError(t('chat.unreadable'))
  }, [t])
  return useMemo(() => chatLinks(Array.isArray(chats) ? chats : []), [chats])
}
