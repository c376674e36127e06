import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { failureName, parseOtherField } from '#console/api/logs.ts'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { dollarText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'

export function RecentCalls({ rows }: { rows: readonly LogEntry[] | undefined }) {
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
          action={<ButtonLink to="/playground">{t('dashboard.toPlayground')}</ButtonLink>}
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
