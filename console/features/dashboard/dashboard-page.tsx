import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useUser } from '#console/api/use-user.ts'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { Page } from '#console/ui/page.tsx'
import { Figures } from './figures.tsx'
import { FirstRun } from './first-run.tsx'
import { LiveMark } from './live-mark.tsx'
import { RecentCalls } from './recent-calls.tsx'
import { UsagePanel } from './usage-panel.tsx'
import { useDashboard } from './use-dashboard.ts'
import './dashboard.css'

/** Where one stands: the balance as it falls, what it went on, and the last calls. */
export function DashboardPage(): ReactElement {
  const { t } = useTranslation()
  const user = useUser()
  const { self, today, recent } = useDashboard()
  const calls = self.data?.request_count
  return (
    <Page
      title={t('dashboard.title')}
      lead={t('dashboard.hello', { name: user?.display_name || user?.username || '' })}
      actions={<LiveMark />}
    >
      {self.error !== null && self.data === undefined ? (
        <ErrorState error={self.error} onRetry={() => void self.refetch()} />
      ) : (
        <Figures user={self.data} today={today.data} />
      )}
      {calls === 0 && <FirstRun calls={calls} />}
      {calls !== 0 && (
        <div className="tg-dash-columns">
          <UsagePanel />
          <RecentCalls rows={recent.data?.items} />
        </div>
      )}
    </Page>
  )
}
