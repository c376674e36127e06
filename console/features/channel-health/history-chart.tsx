import { useTranslation } from 'react-i18next'
import {
  CartesianGrid,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  type TooltipContentProps,
  XAxis,
  YAxis,
} from 'recharts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { durationText, rateText } from './format-durations-and-rates.ts'
import type { HistoryChartData, HistoryChartStep } from './history-chart-data.ts'

const TICK = { fill: 'var(--tg-chart-text)', fontSize: 12 }
const MARGIN = { top: 8, right: 8, bottom: 0, left: 0 }
const AXIS_WIDTH = 56
const X_AXIS = { dataKey: 'time', tick: TICK, tickLine: false, axisLine: false, minTickGap: 32 }
const Y_AXIS = { tick: TICK, tickLine: false, axisLine: false, width: AXIS_WIDTH }
// Draws a dot at each time step, because a single step would have no line.
const LINE = {
  isAnimationActive: false,
  strokeWidth: 2,
  dot: { r: 1.5, strokeDasharray: '0' },
  activeDot: { r: 4 },
}
const RATE = 'var(--tg-chart-1)'
const P50 = 'var(--tg-chart-2)'
const P95 = 'var(--tg-chart-3)'

/**
 * Draws the history chart. This component is loaded as a separate script, because the chart library
 * is large.
 */
export function HistoryChart({ history }: { history: HistoryChartData }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const data = [...history.steps]
  const hasLatency = data.some(({ p50 }) => p50 !== null)
  const tip = (props: TooltipContentProps) => <HistoryTip {...props} />
  const cursor = { stroke: 'var(--tg-line-strong)' }
  return (
    <div aria-hidden="true">
      <p className="tg-health-chart-title">{t('health.column.success')}</p>
      <ResponsiveContainer width="100%" height={124}>
        <LineChart data={data} accessibilityLayer={false} margin={MARGIN}>
          <CartesianGrid vertical={false} stroke="var(--tg-chart-grid)" />
          <XAxis {...X_AXIS} />
          <YAxis
            {...Y_AXIS}
            domain={[0, 1]}
            ticks={[0, 0.5, 1]}
            tickFormatter={(rate: number) => rateText(rate, number)}
          />
          <Tooltip content={tip} cursor={cursor} isAnimationActive={false} />
          <Line {...LINE} dataKey="successRate" stroke={RATE} />
        </LineChart>
      </ResponsiveContainer>
      <p className="tg-health-chart-title">
        {t('health.column.latency')}
        {hasLatency && <Key colour={P50} text="P50" />}
        {hasLatency && <Key colour={P95} text="P95" isDashed />}
      </p>
      {hasLatency ? (
        <ResponsiveContainer width="100%" height={148}>
          <LineChart data={data} accessibilityLayer={false} margin={MARGIN}>
            <CartesianGrid vertical={false} stroke="var(--tg-chart-grid)" />
            <XAxis {...X_AXIS} />
            <YAxis
              {...Y_AXIS}
              domain={[0, 'auto']}
              tickCount={4}
              tickFormatter={(ms: number) => durationText(ms, number)}
            />
            <Tooltip content={tip} cursor={cursor} isAnimationActive={false} />
            <Line {...LINE} dataKey="p95" stroke={P95} strokeDasharray="5 3" />
            <Line {...LINE} dataKey="p50" stroke={P50} />
          </LineChart>
        </ResponsiveContainer>
      ) : (
        <p className="tg-hint">{t('health.history.noLatency')}</p>
      )}
    </div>
  )
}

const Key = (props: { colour: string; text: string; isDashed?: boolean }) => (
  <span className="tg-health-chart-key">
    <svg viewBox="0 0 18 4" aria-hidden="true">
      <path
        d="M0 2h18"
        stroke={props.colour}
        strokeWidth={2}
        strokeDasharray={props.isDashed === true ? '5 3' : undefined}
      />
    </svg>
    {props.text}
  </span>
)

function HistoryTip({ active, payload }: TooltipContentProps) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const step = payload?.[0]?.payload as HistoryChartStep | undefined
  if (!active || step === undefined) return null
  const { attempts: count, successRate, p50, p95 } = step
  return (
    <div className="tg-health-chart-tip">
      <strong>{step.time}</strong>
      {successRate !== null && (
        <p>{`${t('health.column.success')} ${rateText(successRate, number)}`}</p>
      )}
      <p>{t('health.attemptCount', { count, number: number.format(count) })}</p>
      {p50 !== null && <p>{`P50 ${durationText(p50, number)}`}</p>}
      {p95 !== null && <p>{`P95 ${durationText(p95, number)}`}</p>}
    </div>
  )
}
