import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import { type HealthPoint, healthPoints, successRate } from '#console/api/channel-health.ts'
import type { Translations } from '#console/i18n/translation-types.ts'
import {
  type Column,
  column,
  NUMBER_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import type { ChannelHealth, HealthFigures } from '#read-api/contract/channel-health.ts'
import type { Period } from './channel-health-filters.ts'
import { durationText, rateText, speedText } from './format-durations-and-rates.ts'
import { StateCell } from './state-cell.tsx'

const STEP = 5
const BAR = 4
const HEIGHT = 20
/**
 * The minimum height (px) of the part of a bar that represents failed calls. This height makes a
 * failure rate of one percent visible.
 */
const FAILURE_HEIGHT_MIN = 2

/**
 * Draws a channel's success rate over time as small bars. A dot marks a time without calls. All
 * bars of one color are one SVG path, because many elements would make scrolling slow.
 */
function SparkBars({ points }: { points: readonly HealthPoint[] }) {
  const paths = pathsOf(points)
  return (
    <svg
      className="tg-health-spark"
      viewBox={`0 0 ${points.length * STEP - 1} ${HEIGHT}`}
      aria-hidden="true"
    >
      {paths.gap !== '' && <path className="tg-spark-gap" d={paths.gap} />}
      {paths.bad !== '' && <path className="tg-spark-bad" d={paths.bad} />}
      {paths.good !== '' && <path className="tg-spark-good" d={paths.good} />}
    </svg>
  )
}

function pathsOf(points: readonly HealthPoint[]) {
  const paths = { gap: '', bad: '', good: '' }
  for (const [index, { rate }] of points.entries()) {
    const x = index * STEP
    if (rate === null) {
      paths.gap += barPath(x, HEIGHT - 2, 1)
      continue
    }
    const failed = rate === 1 ? 0 : Math.max(FAILURE_HEIGHT_MIN, Math.round((1 - rate) * HEIGHT))
    const good = HEIGHT - failed - (failed > 0 && failed < HEIGHT ? 1 : 0)
    if (failed > 0) paths.bad += barPath(x, 0, failed)
    if (good > 0) paths.good += barPath(x, HEIGHT - good, good)
  }
  return paths
}

const barPath = (x: number, y: number, height: number): string =>
  `M${x} ${y}h${BAR}v${height}h-${BAR}z`

type ColumnContext = {
  readonly t: TFunction
  readonly number: Intl.NumberFormat
  readonly money: Intl.NumberFormat
  readonly period: Period
  readonly healthBarEnd: number
}

export const UnknownValue = () => <span className="tg-muted">–</span>

type Row = ChannelHealth

/**
 * Returns the columns of the list of channels. All columns fit into a window that is 1280 pixels
 * wide.
 */
export function channelHealthColumns(context: ColumnContext): readonly Column<Row>[] {
  const { t, number, money, period } = context
  const title = (id: keyof Translations['health']['column']) => t(`health.column.${id}`)
  const figure = (text: (figures: HealthFigures) => ReactNode) => (row: Row) => {
    const figures = row.figures[period]
    return (figures === null ? null : text(figures)) ?? <UnknownValue />
  }
  const latency = figure(({ latency_ms }) =>
    latency_ms === null ? null : <Latency number={number} {...latency_ms} />,
  )
  const first = figure(({ first_token_ms }) =>
    first_token_ms === null ? null : durationText(first_token_ms.p50, number),
  )
  const speed = figure(({ tokens_per_second }) =>
    tokens_per_second === null ? null : speedText(tokens_per_second, number),
  )
  const inFlight = (row: Row) => <InFlight row={row} number={number} />
  const balance = ({ balance }: Row) =>
    balance === null ? <UnknownValue /> : <span className="tg-amount">{money.format(balance)}</span>
  return [
    column('channel', t('shared.channel'), 200, nameCell, TITLE_COLUMN),
    column('state', title('state'), 176, (row) => <State row={row} context={context} />, {
      onCard: 'aside',
    }),
    column('success', title('success'), 204, (row) => <SuccessCell row={row} context={context} />),
    column('latency', title('latency'), 98, latency, NUMBER_COLUMN),
    column('first', t('shared.firstToken'), 84, first, NUMBER_COLUMN),
    column('speed', title('speed'), 80, speed, NUMBER_COLUMN),
    column('inFlight', title('inFlight'), 76, inFlight, NUMBER_COLUMN),
    column('balance', t('shared.balance'), 88, balance, NUMBER_COLUMN),
  ]
}

const State = ({ row, context }: { row: Row; context: ColumnContext }) => (
  <span className="tg-health-state">
    <StateCell channel={row} />
    <Anomalies row={row} context={context} />
  </span>
)

const nameCell = ({ id, name, tag }: Row) => (
  <span className="tg-health-name">
    <b title={name}>{name}</b>
    <span className="tg-muted">{tag === '' ? `#${id}` : `#${id} · ${tag}`}</span>
  </span>
)

/**
 * Shows the number of anomalies of a channel in the selected period, or nothing if there are none.
 * An anomaly is an answer with implausible usage, from another model, or with a cost above the
 * charge.
 */
function Anomalies({ row, context }: { row: Row; context: ColumnContext }) {
  const { t, number, period } = context
  const count = row.figures[period]?.anomalies ?? 0
  if (count === 0) return null
  const values = { count, number: number.format(count), window: t(`health.window.${period}`) }
  return (
    <span title={t('health.anomalies', values)}>
      <StatusTag tone="warn">{t('health.anomalyCount', values)}</StatusTag>
    </span>
  )
}

function Latency(props: { p50: number; p95: number; number: Intl.NumberFormat }) {
  const { p50, p95, number } = props
  return (
    <span className="tg-health-latency">
      <span>
        <span className="tg-muted">P50</span> {durationText(p50, number)}
      </span>
      <span>
        <span className="tg-muted">P95</span> {durationText(p95, number)}
      </span>
    </span>
  )
}

function SuccessCell({ row, context }: { row: Row; context: ColumnContext }) {
  const { t, number, period, healthBarEnd } = context
  const figures = row.figures[period]
  const rate = successRate(figures)
  const attempts = figures === null ? 0 : figures.successes + figures.failures
  return (
    <span className="tg-health-success">
      <SparkBars points={healthPoints(row.minutes, healthBarEnd)} />
      <span>
        {rate === null ? <UnknownValue /> : <b>{rateText(rate, number)}</b>}
        {rate !== null && (
          <span className="tg-muted">
            {t('health.attemptCount', { count: attempts, number: number.format(attempts) })}
          </span>
        )}
      </span>
    </span>
  )
}

function InFlight(props: { row: Row; number: Intl.NumberFormat }) {
  const { in_flight: count, max_concurrency: max } = props.row
  if (count === null) return <UnknownValue />
  const isFull = max > 0 && count >= max
  return (
    <span className={isFull ? 'tg-health-full' : undefined}>
      {props.number.format(count)}
      {max > 0 && <span className="tg-muted">{` / ${props.number.format(max)}`}</span>}
    </span>
  )
}
