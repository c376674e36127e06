import { stampText } from '#console/ui/elements/time-text.ts'

export type ChartMeasure = 'quota' | 'count' | 'token_used'

export type ChartPoint = { readonly series: string; readonly created_at: number } & {
  readonly [Measure in ChartMeasure]: number
}
export type ChartStep = 'hour' | 'day' | 'week'

/** The data of one bar (bucket) of the chart. `values` has no entry for a series without calls. */
export type ChartBucket = {
  /** The start of the bar's time in Unix seconds. */
  readonly at: number
  readonly values: ReadonlyMap<string, bigint>
  /**
   * The sum of all series, or null if there is no data for this bar's time. The chart shows null as
   * a gap.
   */
  readonly total: bigint | null
}

type ChartSeries = { readonly name: string; readonly total: bigint }

export type UsageChart = {
  readonly step: ChartStep
  readonly isUtc: boolean
  readonly buckets: readonly ChartBucket[]
  /**
   * At most `SERIES_MAX` series with the largest totals. If there are more series, the last one has
   * the name `OTHER_SERIES` and contains the sum of all series that are not listed. A series whose
   * values are all 0 is left out, unless this is true of all series.
   */
  readonly series: readonly ChartSeries[]
  readonly total: bigint
  readonly peak: ChartBucket | null
}

export type ChartTexts = {
  readonly chart: UsageChart
  readonly seriesName: (series: string) => string
  readonly formatValue: (value: bigint) => string
}

/**
 * The division of time into bars. `isUtc` is true for data that the server counts by UTC day. If it
 * is false, bars follow the time zone of the browser.
 */
export type Calendar = { readonly step: ChartStep; readonly isUtc?: boolean }

export const OTHER_SERIES = ''
/**
 * The maximum number of series in the chart, which is the number of colors that users can
 * distinguish in both themes.
 */
export const SERIES_MAX = 6

const HOUR = 3_600
const DAY = 24 * HOUR

export function prepareUsageChart(
  points: readonly ChartPoint[],
  request: Calendar & { from: number; to: number; measure: ChartMeasure },
): UsageChart {
  const inside = points.filter(({ created_at: at }) => at >= request.from && at <= request.to)
  const series = seriesOf(inside, request.measure)
  const named = new Set(series.map(({ name }) => name))
  const filled = new Map<number, Map<string, bigint>>()
  for (const point of inside) {
    const at = bucketStart(point.created_at, request)
    const values = filled.get(at) ?? new Map<string, bigint>()
    const name = named.has(point.series) ? point.series : OTHER_SERIES
    values.set(name, (values.get(name) ?? 0n) + BigInt(point[request.measure]))
    filled.set(at, values)
  }
  const buckets = bucketStarts(request).map((at): ChartBucket => {
    const values = filled.get(at)
    return { at, values: values ?? new Map(), total: values === undefined ? null : sumOf(values) }
  })
  return {
    step: request.step,
    isUtc: request.isUtc === true,
    buckets,
    series,
    total: series.reduce((sum, { total }) => sum + total, 0n),
    peak: peakOf(buckets),
  }
}

function seriesOf(points: readonly ChartPoint[], measure: ChartMeasure): ChartSeries[] {
  const totals = new Map<string, bigint>()
  for (const point of points) {
    totals.set(point.series, (totals.get(point.series) ?? 0n) + BigInt(point[measure]))
  }
  // Leaves out each series whose values are all 0, unless this is true of all series. The totals
  // can't be used for this check: a series of corrections also has negative values, which can add
  // up to 0.
  const used = new Set(points.flatMap((one) => (one[measure] === 0 ? [] : [one.series])))
  const some = [...totals].filter(([name]) => used.has(name))
  const sorted = (some.length > 0 ? some : [...totals])
    .map(([name, total]): ChartSeries => ({ name, total }))
    .toSorted((a, b) => Number(b.total > a.total) - Number(b.total < a.total) || compareNames(a, b))
  const named = sorted.filter(({ name }) => name !== OTHER_SERIES)
  const rest = sorted.filter(({ name }) => name === OTHER_SERIES)
  if (named.length + rest.length <= SERIES_MAX) return [...named, ...rest]
  const others = [...named.slice(SERIES_MAX - 1), ...rest]
  const total = others.reduce((sum, one) => sum + one.total, 0n)
  return [...named.slice(0, SERIES_MAX - 1), { name: OTHER_SERIES, total }]
}

/**
 * Returns the start times of all bars in Unix seconds. Bars are not always equally long, because a
 * day on which clocks change has 23 or 25 hours.
 */
function bucketStarts({
  from,
  to,
  ...calendar
}: Calendar & { from: number; to: number }): number[] {
  const starts: number[] = []
  for (let at = bucketStart(from, calendar); at <= to; at = bucketEnd(at, calendar)) starts.push(at)
  return starts
}

export const bucketEnd = (at: number, calendar: Calendar): number =>
  bucketStart(at + TO_NEXT_BUCKET[calendar.step], calendar)

/**
 * Adding this number of seconds to the start of a bar gives a time within the next bar. Days and
 * weeks have two additional hours, because a day has 25 hours when clocks are set back.
 */
const TO_NEXT_BUCKET = { hour: HOUR, day: DAY + 2 * HOUR, week: 7 * DAY + 2 * HOUR }

/** Returns the start of the bar that contains `at`, in Unix seconds. Weeks start on Monday. */
export function bucketStart(at: number, { step, isUtc = false }: Calendar): number {
  if (step === 'hour') return at - (at % HOUR)
  const day = new Date(at * 1000)
  if (isUtc) {
    day.setUTCHours(0, 0, 0, 0)
    if (step === 'week') day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  } else {
    day.setHours(0, 0, 0, 0)
    if (step === 'week') day.setDate(day.getDate() - ((day.getDay() + 6) % 7))
  }
  return Math.floor(day.getTime() / 1000)
}

const sumOf = (values: ReadonlyMap<string, bigint>): bigint =>
  [...values.values()].reduce((sum, value) => sum + value, 0n)

function peakOf(buckets: readonly ChartBucket[]): ChartBucket | null {
  let peak: ChartBucket | null = null
  for (const bucket of buckets) {
    if (bucket.total !== null && bucket.total > (peak?.total ?? 0n)) peak = bucket
  }
  return peak
}

const compareNames = (a: ChartSeries, b: ChartSeries): number => (a.name < b.name ? -1 : 1)

const dayText = (at: number, isUtc: boolean): string =>
  isUtc ? new Date(at * 1000).toISOString().slice(5, 10) : stampText(at).slice(5, 10)

/**
 * Formats the time of a bar that starts at `at` (Unix seconds): `11-21 07:00` for an hour, `11-21`
 * for a day, and `11-17–11-23` for a week.
 */
export function bucketText(at: number, calendar: Calendar): string {
  const { step, isUtc = false } = calendar
  if (step === 'hour') return stampText(at).slice(5, 16)
  if (step === 'day') return dayText(at, isUtc)
  return `${dayText(at, isUtc)}–${dayText(bucketEnd(at, calendar) - 1, isUtc)}`
}

export const seriesColor = (index: number, name: string): string =>
  name === OTHER_SERIES ? 'var(--tg-chart-other)' : `var(--tg-chart-${index + 1})`
