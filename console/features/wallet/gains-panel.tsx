import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { EmptyState, ErrorState } from '#console/ui/empty-state.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/money.ts'
import { Panel } from '#console/ui/panel.tsx'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import { Time } from '#console/ui/time.tsx'
import type { LogEntry } from '#read-api/contract/log.ts'

/** What came to the balance lately, or was taken from it by an admin. */
export function GainsPanel({ query }: { query: UseQueryResult<LogEntry[]> }): ReactElement {
  const { t } = useTranslation()
  const { data: rows, error } = query
  return (
    <Panel
      title={t('wallet.gains')}
      lead={t('wallet.gainsLead')}
      actions={<Link to="/app/logs/api-usage?type=1">{t('wallet.allGains')}</Link>}
    >
      {rows === undefined && error === null && <Skeleton height={200} />}
      {rows === undefined && error !== null && (
        <ErrorState error={error} onRetry={() => void query.refetch()} />
      )}
      {rows?.length === 0 && (
        <EmptyState icon="wallet" title={t('wallet.noGains')} body={t('wallet.noGainsLead')} />
      )}
      {rows !== undefined && rows.length > 0 && (
        <ul className="tg-wallet-gains">
          {rows.map((row) => (
            <Gain key={row.id} row={row} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Gain({ row }: { row: LogEntry }): ReactElement {
  const rule = useMoneyRule()
  const amount = quotaOf(row.quota)
  const text = exactQuotaText(amount, rule)
  return (
    <li>
      <span className="tg-wallet-reason">{row.content}</span>
      <span className={amount > 0n ? 'tg-wallet-plus' : 'tg-wallet-minus'}>
        {amount > 0n ? `+${text}` : text}
      </span>
      <span className="tg-wallet-when">
        <Time at={row.created_at} />
      </span>
    </li>
  )
}
