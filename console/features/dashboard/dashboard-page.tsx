import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useLiveState } from '#console/api/live/use-live-topic.ts'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { useUser } from '#console/api/session.ts'
import { useStatus } from '#console/api/status.ts'
import { failureName, parseOtherField } from '#console/api/usage-log-queries.ts'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { LiveIndicator } from '#console/ui/elements/live-indicator.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { dollarText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { KeyFigures } from './key-figures.tsx'
import { SetupChecklist, SetupChecklistSkeleton } from './setup-checklist.tsx'
import { SiteFiguresPanel } from './site-figures-panel.tsx'
import { UsagePanel } from './usage-panel.tsx'
import { useBalanceAndRecentCalls } from './use-balance-and-recent-calls.ts'
import { useChartView } from './use-chart-view.ts'
import type { UsageScope } from './use-usage-points.ts'
import './dashboard.css'

export function DashboardPage() {
  const { t } = useTranslation()
  const user = useUser()
  const { self, today, recent } = useBalanceAndRecentCalls()
  const view = useChartView()
  const pollIntervalMs = useUsagePollInterval(view.scope)
  const calls = self.data?.request_count
  // A scratch copy shows the site's data as of an earlier time. The user's own account is always
  // current, so it is hidden while a scratch copy is open.
  const isScratchCopyOpen = currentScratchCopy() !== null
  // The steps of the checklist change the site. A scratch copy is read-only and therefore shows the
  // empty lists instead.
  const isNewUser = calls === 0 && !isScratchCopyOpen
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
      {isNewUser && <SetupChecklist calls={0} />}
      {(!isNewUser || view.isSiteKnown) && (
        <div className="tg-dash-columns">
          <UsagePanel view={view} pollIntervalMs={pollIntervalMs} />
          <RecentCalls rows={recent.data?.items} />
        </div>
      )}
      {view.isSiteKnown && <SiteFiguresPanel view={view} />}
    </Page>
  )
}

const MINUTE_MS = 60_000
const SITE_POLL_INTERVAL_MS = 15_000

/**
 * Returns the polling interval (ms) for the usage, or false for the user's own usage while live
 * events update this usage.
 */
function useUsagePollInterval(scope: UsageScope): number | false {
  const minutes = useStatus()?.data_export_interval ?? 5
  const isLive = useLiveState().kind === 'live'
  if (scope === 'all') return SITE_POLL_INTERVAL_MS
  return isLive ? false : minutes * MINUTE_MS
}

export function StartPage() {
  const { t } = useTranslation()
  const { self } = useBalanceAndRecentCalls()
  return (
    <Page title={t('dashboard.start')}>
      <QueryView query={self} waiting={<SetupChecklistSkeleton />}>
        {({ request_count: calls }) => <SetupChecklist calls={calls} isOwnPage />}
      </QueryView>
    </Page>
  )
}

function RecentCalls({ rows }: { rows: readonly LogEntry[] | undefined }) {
  const { t } = useTranslation()
  const calls = rows?.filter((row) => row.request_id !== '')
  return (
    <Panel
      title={t('dashboard.recent')}
      actions={<Link to="/app/logs/api-usage">{t('dashboard.allCalls')}</Link>}
    >
      {calls === undefined && <Skeleton height={160} />}
      {calls?.length === 0 && (
        <EmptyState
          icon="zap"
          title={t('dashboard.noCalls')}
          body={t('dashboard.noCallsLead')}
          {...(currentScratchCopy() === null ? { action: <PlaygroundLink /> } : {})}
        />
      )}
      {calls !== undefined && calls.length > 0 && (
        <ul className="tg-dash-recent">
          {calls.map((row) => (
            <RecentCall key={row.id} row={row} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function PlaygroundLink() {
  const { t } = useTranslation()
  return <ButtonLink to="/playground">{t('dashboard.toPlayground')}</ButtonLink>
}

const ERROR = 6

function RecentCall({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const quota = BigInt(row.quota)
  const end = failureName(parseOtherField(row).end)
  return (
    <li>
      <span className="tg-dash-model">{row.model_name}</span>
      <span className="tg-dash-cost">
        {row.type === ERROR ? (
          <StatusTag tone="bad">{t('shared.failed')}</StatusTag>
        ) : (
          <>
            {end !== null && <StatusTag tone="warn">{t(`usageLog.endShort.${end}`)}</StatusTag>}
            <span>{rule.isCurrency ? dollarText(quota, rule, 6) : String(quota)}</span>
          </>
        )}
      </span>
      <span className="tg-dash-note">{row.token_name}</span>
      <span className="tg-dash-note tg-dash-cost">
        <Time at={row.created_at} />
      </span>
    </li>
  )
}
