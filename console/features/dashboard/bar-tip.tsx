import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { bucketText } from './bucket-text.ts'
import { colourOf } from './series-colour.ts'
import type { ChartBucket, UsageChart } from './usage-chart.ts'

/** What a bar stands for. `place`: 0 left to 1 right; the tip keeps within the chart. */
export function BarTip(props: {
  chart: UsageChart
  bucket: ChartBucket
  place: number
  nameOf: (series: string) => string
  text: (value: bigint) => string
}): ReactElement {
  const { t } = useTranslation()
  const { chart, bucket, place, nameOf, text } = props
  const side = place > 0.5 ? { right: `${(1 - place) * 100}%` } : { left: `${place * 100}%` }
  return (
    <div className="tg-dash-tip" style={side} aria-hidden="true">
      <strong>{bucketText(bucket.at, chart)}</strong>
      {bucket.total === null ? (
        <p>{t('dashboard.gap')}</p>
      ) : (
        <p>
          {t('dashboard.total')} <b>{text(bucket.total)}</b>
        </p>
      )}
      {chart.series.map(({ name }, index) => {
        const value = bucket.values.get(name)
        return value === undefined ? null : (
          <p key={name}>
            <span className="tg-dash-swatch" style={{ background: colourOf(index, name) }} />
            {nameOf(name)} <b>{text(value)}</b>
          </p>
        )
      })}
    </div>
  )
}
