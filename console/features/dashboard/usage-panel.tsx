import { lazy, type ReactElement, Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/button.tsx'
import { ErrorState } from '#console/ui/empty-state.tsx'
import { exactQuotaText } from '#console/ui/money.ts'
import { Panel } from '#console/ui/panel.tsx'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import { Segmented } from '#console/ui/switches.tsx'
import { choiceParam } from '#console/ui/url-state.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import { bucketText } from './bucket-text.ts'
import { type ChartMeasure, OTHERS, prepareUsageChart, type UsageChart } from './usage-chart.ts'
import { UsageTable } from './usage-table.tsx'
import { type ChartRange, useUsage } from './use-dashboard.ts'

const UsageBars = lazy(async () => ({ default: (await import('./usage-bars.tsx')).UsageBars }))

const RANGES = ['24h', '7d', '30d'] as const
const MEASURES = ['quota', 'count', 'token_used'] as const
const CHART_URL = {
  range: choiceParam<ChartRange>(RANGES, '24h'),
  measure: choiceParam<ChartMeasure>(MEASURES, 'quota'),
}

/** Usage over time by model: in a sentence, as bars, or as a table. */
export function UsagePanel(): ReactElement {
  const { t } = useTranslation()
  const [{ range, measure }, set] = useUrlState(CHART_URL)
  const [isTable, setTable] = useState(false)
  const { data, error, refetch } = useUsage(range)
  const step = range === '24h' ? 'hour' : 'day'
  const chart = useMemo(
    () => data && prepareUsageChart(data.points, { from: data.from, to: data.to, step, measure }),
    [data, step, measure],
  )
  const text = useMeasureText(measure)
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <Panel
      title={t('dashboard.chart')}
      lead={t('dashboard.chartLead', { step: t(`dashboard.step.${step}`), zone })}
      actions={
        <>
          <Segmented
            label={t('dashboard.measure')}
            value={measure}
            choices={MEASURES.map((value) => ({ value, label: t(`dashboard.${value}`) }))}
            onChange={(next) => set({ measure: next })}
          />
          <Segmented
            label={t('dashboard.range')}
            value={range}
            choices={RANGES.map((value) => ({ value, label: t(`dashboard.${value}`) }))}
            onChange={(next) => set({ range: next })}
          />
          <Button tone="quiet" icon={isTable ? 'chart' : 'list'} onClick={() => setTable(!isTable)}>
            {isTable ? t('dashboard.asChart') : t('dashboard.asTable')}
          </Button>
        </>
      }
    >
      {error !== null && chart === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <ChartBody chart={chart} range={range} text={text} isTable={isTable} />
      )}
    </Panel>
  )
}

function ChartBody(props: {
  chart: UsageChart | undefined
  range: ChartRange
  text: (value: bigint) => string
  isTable: boolean
}): ReactElement {
  const { chart, text } = props
  const space = <div className="tg-dash-chart">{<Skeleton height={220} />}</div>
  if (chart === undefined) return space
  return (
    <>
      <Summary chart={chart} range={props.range} text={text} />
      {props.isTable ? (
        <UsageTable chart={chart} text={text} />
      ) : (
        <Suspense fallback={space}>
          <UsageBars chart={chart} text={text} />
        </Suspense>
      )}
    </>
  )
}

/** The chart in a sentence, for everybody. */
function Summary(props: {
  chart: UsageChart
  range: ChartRange
  text: (value: bigint) => string
}): ReactElement {
  const { t } = useTranslation()
  const { chart, text } = props
  const range = t(`dashboard.${props.range}`)
  const first = chart.series[0]
  if (first === undefined || chart.peak === null || chart.total === 0n) {
    return <p className="tg-dash-summary">{t('dashboard.summaryEmpty', { range })}</p>
  }
  const share = Number((first.total * 1000n) / chart.total) / 10
  return (
    <p className="tg-dash-summary">
      {t('dashboard.summary', {
        range,
        total: text(chart.total),
        model: first.model === OTHERS ? t('dashboard.others') : first.model,
        share,
        peak: bucketText(chart.peak.at, chart.step),
        peakTotal: text(chart.peak.total ?? 0n),
      })}
    </p>
  )
}

function useMeasureText(measure: ChartMeasure): (value: bigint) => string {
  const rule = useMoneyRule()
  const number = useNumberFormat()
  return useMemo(
    () => (value) => (measure === 'quota' ? exactQuotaText(value, rule) : number.format(value)),
    [measure, rule, number],
  )
}
