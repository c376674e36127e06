import {
  byTrouble,
  type HealthKind,
  healthKind,
  isTroubled,
} from '#console/api/channel-health/health-state.ts'
import { choiceParam, integerParam, textParam } from '#console/ui/url-state.ts'
import type { ChannelHealth, HealthWindows } from '#read-api/contract/channel-health.ts'

export type Stretch = keyof HealthWindows
export const STRETCHES: readonly Stretch[] = ['m5', 'h1', 'd1']
export const SHOWN = ['all', 'troubled'] as const
export type Shown = (typeof SHOWN)[number]

export const ADDRESS = {
  keyword: textParam(),
  shown: choiceParam(SHOWN, 'all'),
  window: choiceParam(STRETCHES, 'h1'),
  /** The channel whose details are open; 0 none. */
  peek: integerParam({ fallback: 0 }),
  /** Of the timeline: the moment asked about, in unix seconds; 0 none. */
  at: integerParam({ fallback: 0 }),
}

/** Those that are asked for, the troubled first. */
export function shownChannels(
  channels: readonly ChannelHealth[],
  { keyword, shown }: { keyword: string; shown: Shown },
): readonly ChannelHealth[] {
  const wanted = keyword.trim().toLowerCase()
  return channels
    .filter((channel) => shown === 'all' || isTroubled(channel))
    .filter(
      ({ id, name, tag }) =>
        wanted === '' ||
        `${id}` === wanted ||
        name.toLowerCase().includes(wanted) ||
        tag.toLowerCase().includes(wanted),
    )
    .toSorted(byTrouble)
}

/** How many channels are in which state; those there are none of are left out. */
export function countKinds(channels: readonly ChannelHealth[]): ReadonlyMap<HealthKind, number> {
  const counts = new Map<HealthKind, number>()
  for (const channel of channels) {
    const kind = healthKind(channel)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}
