import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { selfQuery } from '#console/api/me/self.ts'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Page } from '#console/ui/page.tsx'
import { PANELS } from './panels.ts'
import { ProfileCard } from './profile-card.tsx'
import { ProofHost } from './proven.tsx'
import '#console/ui/forms.css'
import './me.css'

/** Everything that is one's own: who one is, what one gets, how one comes in and is told. */
export function MePage(): ReactElement {
  const { t } = useTranslation()
  const self = useQuery(selfQuery)
  if (self.error !== null && self.data === undefined) {
    return (
      <Page title={t('me.title')}>
        <ErrorState error={self.error} onRetry={() => void self.refetch()} />
      </Page>
    )
  }
  const column = (name: 'main' | 'side') => (
    <div className="tg-me-column">
      {PANELS.filter((panel) => panel.column === name).map(({ id, Panel }) => (
        <Panel key={id} user={self.data} />
      ))}
    </div>
  )
  return (
    <Page title={t('me.title')} lead={t('me.lead')}>
      <ProfileCard user={self.data} />
      <div className="tg-me-columns">
        {column('main')}
        {column('side')}
      </div>
      <ProofHost />
    </Page>
  )
}
