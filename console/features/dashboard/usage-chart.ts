import type { UsagePoint } from '#read-api/contract/log.ts'

export type ChartMeasure = 'quota' | 'count' | 'token_used'
export type ChartStep = 'hour' | 'day'

/** One bar: what each series has there; a series that is not named had no calls. */
export type ChartBucket = {
  /** Unix seconds of the start, in the browser's zone for days. */
  readonly at: number
  readonly values: ReadonlyMap<string, bigint>
  /** Null where nothing is known: no call was recorded there. A gap, not a zero. */
  readonly total: bigint | null
}

export type ChartSeries = { readonly model: string; readonly total: bigint }

export type UsageChart = {
  readonly step: ChartStep
  readonly buckets: readonly ChartBucket[]
  /** Largest first; the last one may gather the others under `OTHERS`. */
  readonly series: readonly ChartSeries[]
  readonly total: bigint
  readonly peak: ChartBucket | null
}

/** The series that gathers what is too small for a colour of its own. No model can be called so. */
export const OTHERS = ''
/** As many as there are colours that can be told apart in both themes. */
export const SERIES_MAX = 6

const HOUR = 3_600
const DAY = 24 * HOUR

/** Everything the drawing needs, decided here: buckets, series in order, totals, the peak. */
export function prepareUsageChart(
  points: readonly UsagePoint[],
  ask: { from: number; to: number; step: ChartStep; measure: ChartMeasure },
): UsageChart {
  const inside = points.filter(({ created_at: at }) => at >= ask.from && at <= ask.to)
  const series = seriesOf(inside, ask.measure)
  const named = new Set(series.map(({ model }) => model))
  const filled = new Map<number, Map<string, bigint>>()
  for (const point of inside) {
    const at = startOf(point.created_at, ask.step)
    const values = filled.get(at) ?? new Map<string, bigint>()
    const name = named.has(point.model_name) ? point.model_name : OTHERS
    values.set(name, (values.get(name) ?? 0n) + BigInt(point[ask.measure]))
    filled.set(at, values)
  }
  const buckets = starts(ask).map((at): ChartBucket => {
    const values = filled.get(at)
    return { at, values: values ?? new Map(), total: values === undefined ? null : sumOf(values) }
  })
  return {
    step: ask.step,
    buckets,
    series,
    total: series.reduce((sum, { total }) => sum + total, 0n),
    peak: peakOf(buckets),
  }
}

function seriesOf(points: readonly UsagePoint[], measure: ChartMeasure): ChartSeries[] {
  const totals = new Map<string, bigint>()
  for (const point of points) {
    const { model_name: model } = point
    totals.set(model, (totals.get(model) ?? 0n) + BigInt(point[measure]))
  }
  // What adds nothing has no bar and needs no colour, unless there is nothing else.
  const some = [...totals].filter(([, total]) => total > 0n)
  const sorted = (some.length > 0 ? some : [...totals])
    .map(([model, total]): ChartSeries => ({ model, total }))
    .toSorted((a, b) => Number(b.total > a.total) - Number(b.total < a.total) || order(a, b))
  if (sorted.length <= SERIES_MAX) return sorted
  const others = sorted.slice(SERIES_MAX - 1)
  const total = others.reduce((sum, one) => sum + one.total, 0n)
  return [...sorted.slice(0, SERIES_MAX - 1), { model: OTHERS, total }]
}

/** Every bucket's start from `from` to `to`; days follow the calendar, over clock changes too. */
function starts({ from, to, step }: { from: number; to: number; step: ChartStep }): number[] {
  const found: number[] = []
  for (let at = startOf(from, step); at <= to; at = startOf(at + nextIn(step), step)) found.push(at)
  return found
}

/** Enough to land inside the next bucket: a day can have 25 hours. */
const nextIn = (step: ChartStep): number => (step === 'hour' ? HOUR : DAY + 2 * HOUR)

function startOf(at: number, step: ChartStep): number {
  if (step === 'hour') return at - (at % HOUR)
  const day = new Date(at * 1000)
  day.setHours(0, 0, 0, 0)
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

const order = (a: ChartSeries, b: ChartSeries): number => (a.model < b.model ? -1 : 1)
