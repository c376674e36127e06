import { currentSeconds } from '#console/api/scratch-copy.ts'
import { bucketEnd, bucketStart, type Calendar, type ChartStep } from './usage-chart-data.ts'

export const RANGES = ['24h', '7d', '30d', '90d'] as const
export type ChartRange = (typeof RANGES)[number]
export const STEPS: readonly ChartStep[] = ['hour', 'day', 'week']

/** A time range in Unix seconds. The range includes the seconds `from` and `to`. */
export type Interval = { readonly from: number; readonly to: number }

const HOUR = 3_600
const DAY = 24 * HOUR
/**
 * The longest range that the chart can show, in seconds. The server accepts one more week, because
 * a chart with weekly bars extends the range to complete weeks.
 */
const SPAN_MAX = 92 * DAY

export const SPANS: Record<ChartRange, number> = {
  '24h': DAY,
  '7d': 7 * DAY,
  '30d': 30 * DAY,
  '90d': 90 * DAY,
}

export const RANGE_OF_STEP: Record<ChartStep, ChartRange> = { hour: '24h', day: '30d', week: '90d' }

export const stepOf = (text: string | undefined): ChartStep =>
  STEPS.find((step) => step === text) ?? 'hour'

/**
 * Returns the ranges that can be selected. `isByDay` is true for the usage of tokens, which is
 * counted per day and therefore has no range of 24 hours.
 */
export const rangesFor = (isByDay: boolean): readonly ChartRange[] =>
  isByDay ? RANGES.filter((range) => range !== '24h') : RANGES

export function stepsFor(span: number, isByDay: boolean): ChartStep[] {
  const fits: Record<ChartStep, boolean> = {
    hour: !isByDay && span <= 8 * DAY,
    day: isByDay || span > 2 * DAY,
    week: span >= 21 * DAY,
  }
  return STEPS.filter((step) => fits[step])
}

export function fittingStep(preferred: ChartStep, span: number, isByDay: boolean): ChartStep {
  const fitting = stepsFor(span, isByDay)
  if (fitting.includes(preferred)) return preferred
  const isTooFine = STEPS.indexOf(preferred) < STEPS.indexOf(fitting[0] ?? 'hour')
  return (isTooFine ? fitting[0] : fitting.at(-1)) ?? 'hour'
}

export function zoomFromUrl({ from, to }: Interval): Interval | null {
  return from > 0 && to > from && to - from <= SPAN_MAX ? { from, to } : null
}

/**
 * Returns the interval of a range that ends at `now`. The interval starts at the start of a bar.
 */
export function intervalOf(range: ChartRange, now: number, calendar: Calendar): Interval {
  const stepSeconds = calendar.step === 'hour' ? HOUR : DAY
  return { from: bucketStart(now - SPANS[range] + stepSeconds, calendar), to: now }
}

export const extendToSteps = ({ from, to }: Interval, calendar: Calendar): Interval => ({
  from: bucketStart(from, calendar),
  to: bucketEnd(bucketStart(to, calendar), calendar) - 1,
})

export const orderedPair = (one: number, other: number): [first: number, last: number] =>
  one <= other ? [one, other] : [other, one]

export function logRange(view: { range: ChartRange; zoom: Interval | null }): string {
  if (view.zoom !== null) return `${view.zoom.from}-${view.zoom.to}`
  if (view.range !== '90d') return view.range
  const to = currentSeconds()
  return `${to - SPANS[view.range]}-${to}`
}

export const logLink = (search: Readonly<Record<string, string>>): string =>
  `/app/logs/api-usage?${new URLSearchParams(search)}`
