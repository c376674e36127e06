import { useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { storedChats, takeChatsFault, useStatus } from '#console/api/status.ts'
import { showError } from '../messages/toast.ts'
import { type ChatLink, chatLinks } from './chat-links.ts'

/**
 * The clients of the site's list; until it is loaded, those of the last visit. If the stored list
 * cannot be read, a toast says so once.
 */
export function useChats(): readonly ChatLink[] {
  const { t } = useTranslation()
  const chats = useStatus()?.chats ?? storedChats()
  useEffect(() => {
    if (takeChatsFault()) showError(t('chat.unreadable'))
  }, [t])
  return useMemo(() => chatLinks(Array.isArray(chats) ? chats : []), [chats])
}
