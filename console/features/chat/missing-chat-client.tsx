import { useTranslation } from 'react-i18next'
import { isRoot, useUser } from '#console/api/session.ts'
import type { ChatLink } from '#console/ui/chat-links/chat-links.ts'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'

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
