import { useQuery } from '@tanstack/react-query'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { callBarsKey, callsByHour } from '#console/api/usage-log-queries.ts'
import { stampText } from '#console/ui/elements/time-text.ts'
import { useMedia } from '#console/ui/state/use-media-query.ts'
import { boundsOf, midnightBefore } from '#console/ui/time-range/time-range.ts'
import type { UsagePoint } from '#read-api/contract/logs.ts'
import { CONSUMPTION } from './log-type.ts'
import type { LogFilters } from './log-url-params.ts'
import type { LogView } from './use-log-view.ts'

/**
 * A bar of the chart of calls. The bar contains the calls that ended from `from` to `to`. Both
 * times are in Unix seconds and inclusive.
 */
export type CallBar = {
  readonly from: number
  readonly to: number
  readonly count: number
  readonly quota: bigint
}

type BarPlan = { readonly from: number; readonly to: number; readonly hours: number }

const HOUR = 3_600
/** The possible widths of a bar, in hours. */
const STEPS = [1, 2, 3, 6, 12, 24, 48, 96, 168]
/** The longest range that the server counts in one request, in seconds. */
const SPAN_MAX = 99 * 24 * HOUR

/**
 * Reports whether the calls that match the filters can be counted. The server filters the counts
 * only by user and time, and returns them by model. All other filters would have no effect.
 */
export const canCountCalls = (filters: LogFilters): boolean =>
  [0, CONSUMPTION].includes(filters.type) &&
  filters.token === '' &&
  filters.group === '' &&
  filters.request === '' &&
  filters.channel === 0 &&
  filters.failed_channel === 0

/**
 * Divides a time range into at most `barsMax` bars of equal width. `now` is in Unix seconds.
 * Returns null if the range is unlimited, fits into one bar, or is too long for the server.
 */
export function planBars(range: LogFilters['range'], now: number, barsMax: number): BarPlan | null {
  const bounds = boundsOf(range, now)
  if (bounds.from === null || bounds.to === null) return null
  const to = Math.min(bounds.to, now)
  if (to - bounds.from > SPAN_MAX) return null
  for (const hours of STEPS) {
    const from = startOf(bounds.from, hours)
    const bars = Math.floor((to - from) / (hours * HOUR)) + 1
    if (bars <= barsMax)
      return bars < 2 ? null : { from, to: from + bars * hours * HOUR - 1, hours }
  }
  return null
}

/**
 * Returns the bars with the number and the charges of their calls. `points` are the server's counts
 * by hour and model. An empty `model` selects all models.
 */
export function callBars(points: readonly UsagePoint[], plan: BarPlan, model: string): CallBar[] {
  const length = plan.hours * HOUR
  const bars = Array.from({ length: (plan.to + 1 - plan.from) / length }, (_, index) => {
    const from = plan.from + index * length
    return { from, to: from + length - 1, count: 0, quota: 0n }
  })
  for (const point of points) {
    const bar = bars[Math.floor((point.created_at - plan.from) / length)]
    if (bar === undefined || (model !== '' && point.model_name !== model)) continue
    bar.count += point.count
    bar.quota += BigInt(point.quota)
  }
  return bars
}

/**
 * Formats the time of a bar in the browser's time zone: `11-21 07:00–09:00`, `11-21` or
 * `11-21–11-22`.
 */
export function barTimeText({ from, to }: Pick<CallBar, 'from' | 'to'>): string {
  const [start, end] = [stampText(from), stampText(to + 1)]
  if (to - from < 24 * HOUR - 1) return `${start.slice(5, 16)}–${end.slice(11, 16)}`
  const [first, last] = [start.slice(5, 10), stampText(to).slice(5, 10)]
  return first === last ? first : `${first}–${last}`
}

type AxisTick = { readonly index: number; readonly text: string }

/**
 * Returns the labels of the time axis. If the range is at most a day, a label is a time such as
 * `07:00`. In a longer range, a label is a date such as `11-21`. If the bars are shorter than a
 * day, the time follows the date: `11-21 06:00`.
 */
export function axisTicks(
  bars: readonly Pick<CallBar, 'from' | 'to'>[],
  isWide: boolean,
): AxisTick[] {
  const [first, last] = [bars[0], bars.at(-1)]
  if (first === undefined || last === undefined) return []
  const isOfDays = first.to - first.from >= 24 * HOUR - 1
  const isLong = last.from - first.from > 24 * HOUR
  const isStamp = isLong && !isOfDays
  const ticksMax = (isWide ? 7 : 5) - (isStamp ? 2 : 0)
  const barsPerTick = Math.max(1, Math.ceil((bars.length - 1) / (ticksMax - 1)))
  return Array.from({ length: Math.ceil(bars.length / barsPerTick) }, (_, step) => {
    const index = step * barsPerTick
    const stamp = stampText(bars[index]?.from ?? 0)
    const text = isOfDays ? stamp.slice(5, 10) : stamp.slice(isStamp ? 5 : 11, 16)
    return { index, text }
  })
}

/**
 * Returns the start of the bar that contains `from`. Bars start at midnight or at a multiple of
 * `hours` after midnight.
 */
function startOf(from: number, hours: number): number {
  const hour = from - (from % HOUR)
  const midnight = midnightBefore(hour)
  const sinceMidnight = Math.floor((hour - midnight) / HOUR)
  return hour - (sinceMidnight % Math.min(hours, 24)) * HOUR
}

const POLL_INTERVAL_MS = 15_000

/** Reports whether the window has space for 24 bars, one for each hour of a day. */
export const useIsWide = (): boolean => useMedia('(min-width: 1100px)')

/**
 * Returns the bars of the chart of calls, or `pending` until they have loaded. Returns null in
 * these cases: `planBars` returns no bars for the range, the server can't count the calls that
 * match the filters, the window has no space for the chart, or the first request failed.
 */
export function useCallBars(view: LogView): readonly CallBar[] | 'pending' | null {
  const isWide = useIsWide()
  const isTight = useIsCompact()
  const { filters } = view
  const now = currentSeconds()
  const plan = planBars(filters.range, now, isWide ? 31 : 16)
  const isOn = !isTight && plan !== null && canCountCalls(filters)
  const scope = view.isAdmin ? ('all' as const) : ('self' as const)
  const { data, isPending } = useQuery({
    queryKey: [...callBarsKey, scope, filters.username, plan],
    queryFn: ({ signal }) =>
      callsByHour({
        scope,
        from: plan?.from ?? 0,
        to: plan?.to ?? 0,
        username: filters.username,
        signal,
      }),
    enabled: isOn,
    refetchInterval: POLL_INTERVAL_MS,
    retry: false,
  })
  if (!isOn || (data === undefined && !isPending)) return null
  return data === undefined ? 'pending' : callBars(data, plan, filters.model)
}

export const useIsCompact = (): boolean => useMedia('(max-width: 899.98px)')
