import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import { bucketText } from './bucket-text.ts'
import { OTHERS, type UsageChart } from './usage-chart.ts'

type Props = { chart: UsageChart; text: (value: bigint) => string }

const colourOf = (index: number, model: string): string =>
  model === OTHERS ? 'var(--tg-chart-other)' : `var(--tg-chart-${index + 1})`

const TICK = { fill: 'var(--tg-chart-text)', fontSize: 12 }

/**
 * Draws what was prepared, and decides nothing. Heights are numbers, for drawing alone; every
 * figure that is read comes from the exact ones. Its own chunk: the drawing library is large.
 */
export function UsageBars({ chart, text }: Props): ReactElement {
  const { t } = useTranslation()
  const data = chart.buckets.map((bucket) => ({
    at: bucketText(bucket.at, chart.step),
    ...Object.fromEntries(
      chart.series.map(({ model }, index) => [`s${index}`, heightOf(bucket.values.get(model))]),
    ),
  }))
  const nameOf = (model: string): string => (model === OTHERS ? t('dashboard.others') : model)
  return (
    <figure className="tg-dash-chart" aria-label={t('dashboard.chart')}>
      <div className="tg-dash-plot" aria-hidden="true">
        <ResponsiveContainer width="100%" height={240}>
          <BarChart
            data={data}
            accessibilityLayer={false}
            margin={{ top: 8, right: 4, bottom: 0, left: 0 }}
            barCategoryGap="22%"
          >
            <CartesianGrid vertical={false} stroke="var(--tg-chart-grid)" />
            <XAxis dataKey="at" tick={TICK} tickLine={false} axisLine={false} minTickGap={28} />
            <YAxis
              tick={TICK}
              tickLine={false}
              axisLine={false}
              width={72}
              tickFormatter={(value: number) => text(BigInt(Math.round(value)))}
            />
            <Tooltip
              cursor={{ fill: 'var(--tg-hover)' }}
              isAnimationActive={false}
              content={({ label, active }) => (
                <BarTip chart={chart} text={text} label={active ? String(label) : null} />
              )}
            />
            {chart.series.map(({ model }, index) => (
              <Bar
                key={model}
                dataKey={`s${index}`}
                stackId="usage"
                fill={colourOf(index, model)}
                isAnimationActive={false}
                maxBarSize={40}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
      <ul className="tg-dash-legend">
        {chart.series.map(({ model, total }, index) => (
          <li key={model}>
            <span className="tg-dash-swatch" style={{ background: colourOf(index, model) }} />
            {nameOf(model)} <b>{text(total)}</b>
          </li>
        ))}
      </ul>
    </figure>
  )
}

/** Nothing where nothing is known, so that no bar of height 0 is drawn. */
const heightOf = (value: bigint | undefined): number | null =>
  value === undefined ? null : Number(value)

function BarTip(props: Props & { label: string | null }): ReactElement | null {
  const { t } = useTranslation()
  const { chart, text, label } = props
  const bucket = chart.buckets.find(({ at }) => bucketText(at, chart.step) === label)
  if (bucket === undefined) return null
  return (
    <div className="tg-dash-tip">
      <strong>{label}</strong>
      {bucket.total === null && <p>{t('dashboard.gap')}</p>}
      {chart.series.map(({ model }, index) => {
        const value = bucket.values.get(model)
        return value === undefined ? null : (
          <p key={model}>
            <span className="tg-dash-swatch" style={{ background: colourOf(index, model) }} />
            {model === OTHERS ? t('dashboard.others') : model} <b>{text(value)}</b>
          </p>
        )
      })}
    </div>
  )
}
