import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { isRoot } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { ButtonLink } from '#console/ui/button-link.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'

/** No client is listed, or none with this number: who may list one is shown where. */
export function NoClient(): ReactElement {
  const { t } = useTranslation()
  if (!isRoot(useUser())) {
    return <EmptyState icon="chat" title={t('chat.missing')} body={t('chat.missingLead')} />
  }
  return (
    <EmptyState
      icon="chat"
      title={t('chat.missingLead')}
      body={t('chat.addLead')}
      action={<ButtonLink to="/admin/settings?tab=operation">{t('chat.add')}</ButtonLink>}
    />
  )
}
