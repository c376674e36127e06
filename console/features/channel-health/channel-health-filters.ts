import {
  compareHealth,
  type HealthKind,
  healthKind,
  isUnhealthy,
} from '#console/api/channel-health.ts'
import { choiceParam, integerParam, textParam } from '#console/ui/state/url-state.ts'
import type {
  ChannelHealth,
  HealthWindows,
  HistoryRange,
} from '#read-api/contract/channel-health.ts'

export type Period = keyof HealthWindows
export const PERIODS: readonly Period[] = ['m5', 'h1', 'd1']
export const HISTORY_RANGES: readonly HistoryRange[] = ['1h', '24h', '7d']
/**
 * Maps each period of the channel list to the shortest range of the history chart that covers this
 * period.
 */
export const HISTORY_RANGE_OF_PERIOD: Readonly<Record<Period, HistoryRange>> = {
  m5: '1h',
  h1: '1h',
  d1: '24h',
}
export const STATE_FILTERS = ['all', 'troubled'] as const
type StateFilter = (typeof STATE_FILTERS)[number]

export const HEALTH_URL_PARAMS = {
  keyword: textParam(),
  shown: choiceParam(STATE_FILTERS, 'all'),
  window: choiceParam(PERIODS, 'h1'),
  /** The id of the channel whose details are open, or 0. */
  peek: integerParam({ fallback: 0 }),
  history: choiceParam(['', ...HISTORY_RANGES], ''),
  /** The end of the timeline in Unix seconds, or 0 for the current time. */
  at: integerParam({ fallback: 0 }),
}

export function failedCallsLink(channelId: number, period: Period): string {
  const search = { failed_channel: `${channelId}`, range: HISTORY_RANGE_OF_PERIOD[period] }
  return `/app/logs/api-usage?${new URLSearchParams(search)}`
}

export function filterChannels(
  channels: readonly ChannelHealth[],
  { keyword, shown }: { keyword: string; shown: StateFilter },
): readonly ChannelHealth[] {
  const needle = keyword.trim().toLowerCase()
  return channels
    .filter((channel) => shown === 'all' || isUnhealthy(channel))
    .filter(
      ({ id, name, tag }) =>
        needle === '' ||
        `${id}` === needle ||
        name.toLowerCase().includes(needle) ||
        tag.toLowerCase().includes(needle),
    )
    .toSorted(compareHealth)
}

export function countKinds(channels: readonly ChannelHealth[]): ReadonlyMap<HealthKind, number> {
  const counts = new Map<HealthKind, number>()
  for (const channel of channels) {
    const kind = healthKind(channel)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}
