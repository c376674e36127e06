import { bucketEnd, bucketStart, type Calendar, type ChartStep } from './usage-chart.ts'

export const RANGES = ['24h', '7d', '30d', '90d'] as const
export type ChartRange = (typeof RANGES)[number]
export const STEPS: readonly ChartStep[] = ['hour', 'day', 'week']

/** Unix seconds, both ends included. */
export type Stretch = { readonly from: number; readonly to: number }

const HOUR = 3_600
const DAY = 24 * HOUR
/** The longest range that the server sums at once, less a week that a step may add. */
const SPAN_MAX = 92 * DAY

export const SPANS: Record<ChartRange, number> = {
  '24h': DAY,
  '7d': 7 * DAY,
  '30d': 30 * DAY,
  '90d': 90 * DAY,
}

/** The range that suits a step; a dashboard opens with it by default. */
export const RANGE_OF_STEP: Record<ChartStep, ChartRange> = { hour: '24h', day: '30d', week: '90d' }

/** The operator's choice, from the site's status. */
export const stepOf = (text: string | undefined): ChartStep =>
  STEPS.find((step) => step === text) ?? 'hour'

/** Tokens are counted by day, and a single day allows no comparison. */
export const rangesFor = (isByDay: boolean): readonly ChartRange[] =>
  isByDay ? RANGES.filter((range) => range !== '24h') : RANGES

/** The steps that draw more than one bar, and few enough bars to tell apart. */
export function stepsFor(span: number, isByDay: boolean): ChartStep[] {
  const fits: Record<ChartStep, boolean> = {
    hour: !isByDay && span <= 8 * DAY,
    day: isByDay || span > 2 * DAY,
    week: span >= 21 * DAY,
  }
  return STEPS.filter((step) => fits[step])
}

/** The requested step when it fits the range, otherwise the nearest that does. */
export function fittingStep(wanted: ChartStep, span: number, isByDay: boolean): ChartStep {
  const fitting = stepsFor(span, isByDay)
  if (fitting.includes(wanted)) return wanted
  const isTooFine = STEPS.indexOf(wanted) < STEPS.indexOf(fitting[0] ?? 'hour')
  return (isTooFine ? fitting[0] : fitting.at(-1)) ?? 'hour'
}

/** The zoomed range in the address, or null when the address has none that can be shown. */
export function zoomOf({ from, to }: Stretch): Stretch | null {
  return from > 0 && to > from && to - from <= SPAN_MAX ? { from, to } : null
}

/** A range that ends now, in whole steps, so that the first bar is complete. */
export function stretchOf(range: ChartRange, now: number, calendar: Calendar): Stretch {
  const least = calendar.step === 'hour' ? HOUR : DAY
  return { from: bucketStart(now - SPANS[range] + least, calendar), to: now }
}

/** The same range, extended to the boundaries of its first and last step. */
export const wholeSteps = ({ from, to }: Stretch, calendar: Calendar): Stretch => ({
  from: bucketStart(from, calendar),
  to: bucketEnd(bucketStart(to, calendar), calendar) - 1,
})

/** The two bars in ascending order. */
export const between = (one: number, other: number): [first: number, last: number] =>
  one <= other ? [one, other] : [other, one]
