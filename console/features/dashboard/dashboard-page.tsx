import './dashboard.css'
import { useTranslation } from 'react-i18next'
import { useLiveState } from '#console/api/live/use-live-topic.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { useUser } from '#console/api/session.ts'
import { useStatus } from '#console/api/status.ts'
import { LiveIndicator } from '#console/ui/elements/live-indicator.tsx'
import { ErrorState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { KeyFigures } from './key-figures.tsx'
import { RecentCalls } from './recent-calls.tsx'
import { SetupChecklist, SetupChecklistSkeleton } from './setup-checklist.tsx'
import { SitePanel } from './site-panel.tsx'
import { UsagePanel } from './usage-panel.tsx'
import { useChartView } from './use-chart-view.ts'
import { useDashboard } from './use-dashboard.ts'
import type { UsageScope } from './use-usage.ts'

export function DashboardPage() {
  const { t } = useTranslation()
  const user = useUser()
  const { self, today, recent } = useDashboard()
  const view = useChartView()
  const pollIntervalMs = useUsagePollInterval(view.scope)
  const calls = self.data?.request_count
  // A scratch copy shows the site's data as of an earlier time. The user's own account is always
  // current, so it is hidden while a scratch copy is open.
  const isScratchCopyOpen = currentScratchCopy() !== null
  return (
    <Page
      title={t('shell.dashboard')}
      lead={t('dashboard.hello', { name: user?.display_name || user?.username || '' })}
      actions={<LiveIndicator />}
    >
      {self.error !== null && self.data === undefined ? (
        <ErrorState error={self.error} onRetry={() => void self.refetch()} />
      ) : (
        !isScratchCopyOpen && <KeyFigures user={self.data} today={today.data} />
      )}
      {calls === 0 && !isScratchCopyOpen && <SetupChecklist calls={calls} />}
      {(calls !== 0 || view.isSiteKnown) && (
        <div className="tg-dash-columns">
          <UsagePanel view={view} pollIntervalMs={pollIntervalMs} />
          <RecentCalls rows={recent.data?.items} />
        </div>
      )}
      {view.isSiteKnown && <SitePanel view={view} />}
    </Page>
  )
}

const MINUTE_MS = 60_000
const SITE_POLL_INTERVAL_MS = 15_000

/**
 * Returns the polling interval (ms) for the usage, or false for the user's own usage while live
 * events update it.
 */
function useUsagePollInterval(scope: UsageScope): number | false {
  const minutes = useStatus()?.data_export_interval ?? 5
  const isLive = useLiveState().kind === 'live'
  if (scope === 'all') return SITE_POLL_INTERVAL_MS
  return isLive ? false : minutes * MINUTE_MS
}

export function StartPage() {
  const { t } = useTranslation()
  const { self } = useDashboard()
  return (
    <Page title={t('dashboard.start')}>
      <QueryView query={self} waiting={<SetupChecklistSkeleton />}>
        {({ request_count: calls }) => <SetupChecklist calls={calls} isOwnPage />}
      </QueryView>
    </Page>
  )
}
