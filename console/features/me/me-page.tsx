import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { selfQuery } from '#console/api/me/self.ts'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Page } from '#console/ui/page.tsx'
import { AccessTokenPanel } from './access-token-panel.tsx'
import { AccountPanel } from './account-panel.tsx'
import { BindingsPanel } from './bindings-panel.tsx'
import { CheckInPanel } from './check-in-panel.tsx'
import { InvitePanel } from './invite-panel.tsx'
import { MailPanel } from './mail-panel.tsx'
import type { MePanel } from './me-panel.ts'
import { ModelsPanel } from './models-panel.tsx'
import { ProfileCard } from './profile-card.tsx'
import { ProofHost } from './proven.tsx'
import { SessionsPanel } from './sessions-panel.tsx'
import { SettingsPanel } from './settings-panel.tsx'
import { TwoStepPanel } from './two-step-panel.tsx'
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

/** One line per panel, in the order of the page. */
const PANELS: readonly MePanel[] = [
  { id: 'models', column: 'main', Panel: ModelsPanel },
  { id: 'settings', column: 'main', Panel: SettingsPanel },
  { id: 'two-step', column: 'main', Panel: TwoStepPanel },
  { id: 'sessions', column: 'main', Panel: SessionsPanel },
  { id: 'check-in', column: 'side', Panel: CheckInPanel },
  { id: 'invites', column: 'side', Panel: InvitePanel },
  { id: 'mail', column: 'side', Panel: MailPanel },
  { id: 'bindings', column: 'side', Panel: BindingsPanel },
  { id: 'access-token', column: 'side', Panel: AccessTokenPanel },
  { id: 'account', column: 'side', Panel: AccountPanel },
]
