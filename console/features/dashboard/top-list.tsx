import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { logLink } from './chart-range.ts'

type TopRow = {
  readonly key: string
  readonly name: string
  readonly count: number
  readonly quota: number
  /**
   * The URL parameters that filter the usage log by this row, or null if the log has no such
   * filter.
   */
  readonly search: Readonly<Record<string, string>> | null
  readonly margin?: ReactNode
}

export function TopList(props: {
  title: string
  head: string
  rows: readonly TopRow[] | undefined
  hasMargin?: boolean
}) {
  const { t } = useTranslation()
  const { rows, hasMargin = false } = props
  const max = Math.max(1, ...(rows ?? []).map(({ quota }) => quota))
  return (
    <Panel title={props.title}>
      {rows === undefined && <Skeleton height={160} />}
      {rows?.length === 0 && <p className="tg-muted">{t('dashboard.nobody')}</p>}
      {rows !== undefined && rows.length > 0 && (
        <table className={hasMargin ? 'tg-dash-top tg-dash-top-margin' : 'tg-dash-top'}>
          <TableHead
            titles={[
              props.head,
              t('shared.calls'),
              t('dashboard.charged'),
              ...(hasMargin ? [t('shared.margin')] : []),
            ]}
          />
          <tbody>
            {rows.map((row) => (
              <Row key={row.key} row={row} max={max} hasMargin={hasMargin} />
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

function Row(props: { row: TopRow; max: number; hasMargin: boolean }) {
  const { row, max, hasMargin } = props
  const number = useNumberFormat()
  const rule = useMoneyRule()
  return (
    <tr>
      <th scope="row" title={row.name}>
        {row.search === null ? row.name : <Link to={logLink(row.search)}>{row.name}</Link>}
        <span
          className="tg-dash-share"
          style={{ width: `${Math.max(0, row.quota / max) * 100}%` }}
        />
      </th>
      <td>{number.format(row.count)}</td>
      <td>{exactQuotaText(quotaOf(row.quota), rule)}</td>
      {hasMargin && <td>{row.margin}</td>}
    </tr>
  )
}
