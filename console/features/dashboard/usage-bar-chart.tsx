import { useTranslation } from 'react-i18next'
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, XAxis, YAxis } from 'recharts'
import { ChartBarButtons } from './chart-bar-buttons.tsx'
import type { Interval } from './chart-range.ts'
import { bucketText, type ChartTexts, seriesColor } from './usage-chart-data.ts'

const TICK = { fill: 'var(--tg-chart-text)', fontSize: 12 }
/**
 * The margins (px) of the chart. The buttons that lie over the bars have the same margins in CSS.
 */
const MARGIN = { top: 8, right: 4, bottom: 0, left: 0 }
const AXIS_WIDTH = 72

/**
 * Draws the bars of the usage chart. This component is loaded as a separate script, because the
 * chart library is large.
 */
export function UsageBarChart(props: ChartTexts & { onZoom: (interval: Interval) => void }) {
  const { t } = useTranslation()
  const { chart, seriesName, formatValue } = props
  const data = chart.buckets.map((bucket) => ({
    at: bucketText(bucket.at, chart),
    ...Object.fromEntries(
      chart.series.map(({ name }, index) => [`s${index}`, heightOf(bucket.values.get(name))]),
    ),
  }))
  return (
    <figure className="tg-dash-chart" aria-label={t('shared.usage')}>
      <div className="tg-dash-plot">
        <div aria-hidden="true">
          <ResponsiveContainer width="100%" height={240}>
            <BarChart
              data={data}
              accessibilityLayer={false}
              margin={MARGIN}
              barCategoryGap="22%"
              stackOffset="sign"
            >
              <CartesianGrid vertical={false} stroke="var(--tg-chart-grid)" />
              <XAxis dataKey="at" tick={TICK} tickLine={false} axisLine={false} minTickGap={28} />
              <YAxis
                tick={TICK}
                tickLine={false}
                axisLine={false}
                width={AXIS_WIDTH}
                tickFormatter={(value: number) => formatValue(BigInt(Math.round(value)))}
              />
              {chart.series.map(({ name }, index) => (
                <Bar
                  key={name}
                  dataKey={`s${index}`}
                  stackId="usage"
                  fill={seriesColor(index, name)}
                  isAnimationActive={false}
                  maxBarSize={40}
                />
              ))}
            </BarChart>
          </ResponsiveContainer>
        </div>
        <ChartBarButtons {...props} />
      </div>
      <ul className="tg-dash-legend">
        {chart.series.map(({ name, total }, index) => (
          <li key={name}>
            <span className="tg-dash-swatch" style={{ background: seriesColor(index, name) }} />
            {seriesName(name)} <b>{formatValue(total)}</b>
          </li>
        ))}
      </ul>
      <p className="tg-hint tg-dash-zoom-hint">{t('dashboard.zoomHint')}</p>
    </figure>
  )
}

/**
 * Returns the height of a bar, or null for a missing value. A missing value must not become 0,
 * because the chart library would draw a bar for it.
 */
const heightOf = (value: bigint | undefined): number | null =>
  value === undefined ? null : Number(value)
