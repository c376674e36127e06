import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { isRoot, useUser } from '#console/api/session.ts'
import { fetchEnabledTokens, tokensKey } from '#console/api/token-and-redemption-queries.ts'
import type { ChatLink } from '#console/ui/chat-links/chat-links.ts'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { showError } from '#console/ui/messages/toast.ts'

const TOKENS_MAX = 100
const TO_TOKENS_MS = 1_500

/**
 * Reads the newest 100 of the user's enabled tokens. If there are none, shows an error and opens
 * the page of tokens. If `isNeeded` is false, the hook does nothing.
 */
export function useChatTokens(isNeeded = true) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const query = useQuery({
    enabled: isNeeded,
    queryKey: [...tokensKey, 'enabled'],
    queryFn: ({ signal }) => fetchEnabledTokens(TOKENS_MAX, signal),
  })
  const isNone = isNeeded && query.data?.items.length === 0
  useEffect(() => {
    if (!isNone) return
    showError(t('chat.noToken'))
    const timer = setTimeout(() => void navigate('/app/tokens'), TO_TOKENS_MS)
    return () => clearTimeout(timer)
  }, [isNone, navigate, t])
  return { query, tokens: query.data?.items ?? [], isNone }
}

export function MissingClient() {
  const { t } = useTranslation()
  if (!isRoot(useUser())) {
    return <EmptyState icon="chat" title={t('ui.noChatLinks')} body={t('chat.missingLead')} />
  }
  return (
    <EmptyState
      icon="chat"
      title={t('chat.missingLead')}
      body={t('chat.addLinkHint')}
      action={<ButtonLink to="/admin/settings?tab=operation">{t('ui.openSettings')}</ButtonLink>}
    />
  )
}

export function UnknownClient({ first }: { first: ChatLink }) {
  const { t } = useTranslation()
  return (
    <EmptyState
      icon="chat"
      title={t('chat.unknown')}
      body={t('chat.unknownLead')}
      action={<ButtonLink to="/chat/0">{t('chat.openFirst', { name: first.name })}</ButtonLink>}
    />
  )
}
