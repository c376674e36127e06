import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { bucketText } from './bucket-text.ts'
import type { UsageChart } from './usage-chart.ts'
import type { ChartView } from './use-chart-view.ts'

/** The chart in a sentence, for everybody. */
export function ChartSummary(props: {
  chart: UsageChart
  view: ChartView
  text: (value: bigint) => string
  nameOf: (series: string) => string
}): ReactElement {
  const { t } = useTranslation()
  const { chart, view, text } = props
  const range = t(view.zoom === null ? `dashboard.${view.range}` : 'dashboard.stretch')
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
        model: props.nameOf(first.name),
        share,
        peak: bucketText(chart.peak.at, chart),
        peakTotal: text(chart.peak.total ?? 0n),
      })}
    </p>
  )
}
