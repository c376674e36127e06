import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useSiteAddress, useStatus } from '#console/api/status.ts'
import { chatAddress, chatTarget, externalClient } from '#console/ui/chat-links/chat-links.ts'
import { fullKey } from '#console/ui/elements/token-key.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { MissingClient, useChatTokens } from './chat-tokens-and-empty-states.tsx'

export function ChatRedirectPage() {
  const { t } = useTranslation()
  const status = useStatus()
  const client = externalClient(status)
  const { query, tokens, isNone } = useChatTokens(client !== undefined)
  const site = useSiteAddress()
  const [token] = tokens
  const address =
    client === undefined || token === undefined
      ? null
      : chatAddress(client.template, site, fullKey(token.key))
  const isWrong = token !== undefined && chatTarget(address, window.location.origin) === 'none'
  const target = isWrong ? null : address
  useEffect(() => {
    if (target !== null) window.location.replace(target)
  }, [target])
  return (
    <Page title={t('ui.chat')}>
      {status !== undefined && client === undefined ? (
        <MissingClient />
      ) : query.error !== null && query.data === undefined ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : isNone ? (
        <EmptyState icon="key" title={t('chat.noToken')} body={t('chat.redirectingToTokens')} />
      ) : isWrong ? (
        <EmptyState icon="alert" title={t('ui.chatLinkInvalid')} body={t('chat.linkFormatHint')} />
      ) : (
        <EmptyState icon="external" title={t('chat.redirecting')} />
      )}
    </Page>
  )
}
