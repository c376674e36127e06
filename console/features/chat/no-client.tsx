import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { isRoot, useUser } from '#console/api/session.ts'
import { ButtonLink } from '#console/ui/button-link.tsx'
import type { ChatLink } from '#console/ui/chat-links.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'

/** No client is listed: who may list one is shown where. */
export function NoClient(): ReactElement {
  const { t } = useTranslation()
  if (!isRoot(useUser())) {
    return <EmptyState icon="chat" title={t('ui.noChatLinks')} body={t('chat.missingLead')} />
  }
  return (
    <EmptyState
      icon="chat"
      title={t('chat.missingLead')}
      body={t('chat.addLead')}
      action={<ButtonLink to="/admin/settings?tab=operation">{t('ui.openSettings')}</ButtonLink>}
    />
  )
}

/** None with this number, but others, of which the first is offered. */
export function OtherClient({ first }: { first: ChatLink }): ReactElement {
  const { t } = useTranslation()
  return (
    <EmptyState
      icon="chat"
      title={t('chat.unknown')}
      body={t('chat.unknownLead')}
      action={<ButtonLink to="/chat/0">{t('chat.toFirst', { name: first.name })}</ButtonLink>}
    />
  )
}
