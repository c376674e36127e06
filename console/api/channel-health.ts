import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Translations } from '#console/i18n/translation-types.ts'
import type {
  ChannelHealth,
  HealthFigures,
  HealthPush,
  HealthSnapshot,
} from '#read-api/contract/channel-health.ts'
import { call } from './client.ts'
import { useLiveState, useLiveTopic } from './live/use-live-topic.ts'

export type HealthKind = keyof Translations['health']['kind']

const FAILING_BELOW = 0.9
const RANK: readonly HealthKind[] = [
  'autoDisabled',
  'open',
  'halfOpen',
  'degraded',
  'failing',
  'healthy',
  'idle',
  'disabled',
]

export const HEALTH_TONE = {
  disabled: 'neutral',
  autoDisabled: 'bad',
  open: 'bad',
  halfOpen: 'warn',
  degraded: 'warn',
  failing: 'warn',
  idle: 'neutral',
  healthy: 'good',
} as const satisfies Record<HealthKind, string>

export function healthKind({ status, circuits, figures }: ChannelHealth): HealthKind {
  if (status === 3) return 'autoDisabled'
  if (status !== 1) return 'disabled'
  const channelCircuit = circuits.find(
    ({ model, key_index }) => model === null && key_index === null,
  )
  if (channelCircuit !== undefined) return channelCircuit.state === 'open' ? 'open' : 'halfOpen'
  if (circuits.length > 0) return 'degraded'
  const rate = successRate(figures.m5)
  if (rate !== null && rate < FAILING_BELOW) return 'failing'
  const isIdle = [figures.m5, figures.h1, figures.d1].every((part) => part === null)
  return isIdle ? 'idle' : 'healthy'
}

export const isUnhealthy = (channel: ChannelHealth): boolean =>
  RANK.indexOf(healthKind(channel)) < RANK.indexOf('healthy')

export const compareHealth = (one: ChannelHealth, other: ChannelHealth): number =>
  Math.min(RANK.indexOf(healthKind(one)), RANK.indexOf('healthy')) -
    Math.min(RANK.indexOf(healthKind(other)), RANK.indexOf('healthy')) || one.id - other.id

export function successRate(figures: HealthFigures | null): number | null {
  if (figures === null) return null
  const tries = figures.successes + figures.failures
  return tries === 0 ? null : figures.successes / tries
}

export type HealthPoint = {
  readonly from: number
  readonly rate: number | null
  readonly tries: number
}

const BAR_SECONDS = 180

/**
 * Returns the end of the chart bar that contains `atMs`, in Unix seconds. Each bar covers three
 * minutes.
 */
export const healthBarEnd = (atMs: number): number =>
  (Math.floor(atMs / 1_000 / BAR_SECONDS) + 1) * BAR_SECONDS

/**
 * Returns the success rates of the last 20 chart bars, which end at `end`. Each bar covers three
 * minutes. A bar without attempts has the rate null.
 */
export function healthPoints(rows: ChannelHealth['minutes'], end: number): readonly HealthPoint[] {
  const length = BAR_SECONDS
  const count = Math.round(3_600 / length)
  const points = Array.from({ length: count }, (_, index) => ({
    from: end - (count - index) * length,
    successes: 0,
    tries: 0,
  }))
  for (const [minute, well, failed] of rows) {
    const point = points[Math.floor((minute - end) / length) + count]
    if (point === undefined) continue
    point.successes += well
    point.tries += well + failed
  }
  return points.map(({ from, successes, tries }) => ({
    from,
    tries,
    rate: tries === 0 ? null : successes / tries,
  }))
}

export const healthKey = ['channel-health'] as const

const healthQuery = queryOptions({
  queryKey: healthKey,
  queryFn: ({ signal }) => call('GET /api/channel/health', { signal }),
})

/**
 * Returns the snapshot with the changes of a live message. A snapshot is the health of all channels
 * at one time. A message that is older than the snapshot is ignored.
 */
export function mergeHealthPush(snapshot: HealthSnapshot, push: HealthPush): HealthSnapshot {
  if (push.at < snapshot.at) return snapshot
  const changed = new Map(push.channels.map((channel) => [channel.id, channel]))
  const channels = snapshot.channels
    .filter(({ id }) => !push.removed.includes(id))
    .map((channel) => changed.get(channel.id) ?? channel)
  const listedIds = new Set(channels.map(({ id }) => id))
  const added = push.channels.filter(({ id }) => !listedIds.has(id))
  return { at: push.at, channels: [...channels, ...added].sort((a, b) => a.id - b.id) }
}

export function useChannelHealth() {
  const client = useQueryClient()
  const isLive = useLiveState().kind === 'live'
  const refetch = (): void => void client.invalidateQueries({ queryKey: healthKey })
  useLiveTopic('health', {
    onEvents: (pushes) =>
      client.setQueryData<HealthSnapshot>(healthKey, (snapshot) =>
        snapshot === undefined ? undefined : pushes.reduce(mergeHealthPush, snapshot),
      ),
    onResync: refetch,
  })
  useEffect(() => {
    if (isLive) void client.invalidateQueries({ queryKey: healthKey })
  }, [isLive, client])
  return useQuery({ ...healthQuery, refetchOnMount: 'always' })
}
