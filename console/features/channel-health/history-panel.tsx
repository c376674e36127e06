import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { healthKey } from '#console/api/channel-health.ts'
import { apiQuery } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import type { HistoryRange } from '#read-api/contract/channel-health.ts'
import { UnknownValue } from './channel-health-columns.tsx'
import { HISTORY_RANGES } from './channel-health-filters.ts'
import { durationText, rateText } from './format-durations-and-rates.ts'
import { type HistoryChartData, historyChartData } from './history-chart-data.ts'

function HistoryTable({ history }: { history: HistoryChartData }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const time = (value: number | null) =>
    value === null ? <UnknownValue /> : durationText(value, number)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it
    <section className="tg-health-scroll" tabIndex={0} aria-label={t('health.history.title')}>
      <table className="tg-health-table">
        <TableHead
          titles={[
            t('shared.time'),
            t('health.column.success'),
            t('health.history.attempts'),
            t('health.column.p50'),
            t('health.column.p95'),
          ]}
        />
        <tbody>
          {history.steps.toReversed().map(({ at, time: text, attempts, successRate, p50, p95 }) => (
            <tr key={at}>
              <th scope="row">{text}</th>
              <td>{successRate === null ? <UnknownValue /> : rateText(successRate, number)}</td>
              <td>{attempts === 0 ? <UnknownValue /> : number.format(attempts)}</td>
              <td>{time(p50)}</td>
              <td>{time(p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const HistoryChart = lazy(async () => ({
  default: (await import('./history-chart.tsx')).HistoryChart,
}))

export function HistoryPanel(props: {
  channelId: number
  range: HistoryRange
  onRange: (range: HistoryRange) => void
}) {
  const { t } = useTranslation()
  const { channelId, range, onRange } = props
  const [isTable, setTable] = useState(false)
  const { data, error, refetch } = useQuery(healthHistoryQuery(channelId, range))
  const history = useMemo(() => data && historyChartData(data), [data])
  return (
    <section aria-label={t('health.history.title')}>
      <div className="tg-health-history-head">
        <h3>{t('health.history.title')}</h3>
        <div className="tg-actions">
          <Segmented
            label={t('shared.timeRange')}
            value={range}
            choices={choicesOf(HISTORY_RANGES, (value) => t(`health.history.range.${value}`))}
            onChange={onRange}
          />
          <Button
            tone="quiet"
            icon={isTable ? 'chart' : 'list'}
            label={t(isTable ? 'shared.asChart' : 'shared.asTable')}
            onClick={() => setTable(!isTable)}
          />
        </div>
      </div>
      <div className="tg-health-history">
        <QueryView query={{ data: history, error, refetch }} waiting={PLACEHOLDER}>
          {(history) => <Body history={history} isTable={isTable} />}
        </QueryView>
      </div>
    </section>
  )
}

const PLACEHOLDER = <Skeleton height={348} />

function Body({ history, isTable }: { history: HistoryChartData; isTable: boolean }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { attempts: count, successRate, lowestStep } = history
  if (successRate === null || lowestStep?.successRate == null) {
    return <EmptyState icon="chart" title={t('health.history.none')} />
  }
  const summary = t('health.history.summary', {
    count,
    number: number.format(count),
    rate: rateText(successRate, number),
    lowest: rateText(lowestStep.successRate, number),
    time: lowestStep.time,
  })
  return (
    <>
      <p className="tg-health-history-summary">{summary}</p>
      {isTable ? (
        <HistoryTable history={history} />
      ) : (
        <Suspense fallback={PLACEHOLDER}>
          <HistoryChart history={history} />
        </Suspense>
      )}
    </>
  )
}

const POLL_INTERVAL_MS = 60_000

function healthHistoryQuery(id: number, range: HistoryRange) {
  const key = [...healthKey, 'history', id, range]
  const input = { params: { id }, query: { range } }
  return {
    ...apiQuery('GET /api/channel/:id/health_history', input, key),
    refetchInterval: POLL_INTERVAL_MS,
  }
}
