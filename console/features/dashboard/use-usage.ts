import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '#console/api/client.ts'
import { callsByHour } from '#console/api/logs.ts'
import { presentSeconds } from '#console/api/scratch-copy.ts'
import type { TokenUsagePoint } from '#read-api/contract/usage.ts'
import { type ChartRange, extendToSteps, type Interval, intervalOf } from './chart-range.ts'
import type { Calendar, ChartPoint } from './usage-chart-data.ts'

export const usageKey = ['usage'] as const

export type UsageScope = 'self' | 'all'
type UsageBy = 'model' | 'token'

type UsageQuery = {
  readonly scope: UsageScope
  readonly by: UsageBy
  readonly range: ChartRange
  readonly zoom: Interval | null
  readonly calendar: Calendar
}

export function useUsage(
  { scope, by, range, zoom, calendar }: UsageQuery,
  everyMs: number | false,
) {
  return useQuery({
    queryKey: [...usageKey, scope, by, zoom ?? range, calendar],
    queryFn: async ({ signal }) => {
      const interval = requestedInterval({ range, zoom, calendar })
      const points = await read({ ...interval, scope, by, signal })
      return { ...interval, points }
    },
    placeholderData: keepPreviousData,
    // Reads on every mount, because live events update the data only while the page is open.
    refetchOnMount: 'always',
    refetchInterval: everyMs,
  })
}

export const requestedInterval = ({
  range,
  zoom,
  calendar,
}: Omit<UsageQuery, 'scope' | 'by'>): Interval =>
  zoom === null ? intervalOf(range, presentSeconds(), calendar) : extendToSteps(zoom, calendar)

async function read(
  ask: Interval & { scope: UsageScope; by: UsageBy; signal: AbortSignal },
): Promise<ChartPoint[]> {
  if (ask.by === 'token') return tokenPoints(await tokenUsage(ask))
  const points = await callsByHour({ ...ask, username: '' })
  return points.map(({ model_name: series, ...point }) => ({ series, ...point }))
}

/**
 * Returns the points of the chart. If several tokens have the same name, the token's id is appended
 * to tell them apart.
 */
export function tokenPoints(points: readonly TokenUsagePoint[]): ChartPoint[] {
  const ids = new Map<string, Set<number>>()
  for (const { token_id: id, token_name: name } of points) {
    ids.set(name, (ids.get(name) ?? new Set()).add(id))
  }
  return points.map(({ token_id: id, token_name: name, ...point }) => ({
    ...point,
    series: id === 0 ? '' : (ids.get(name)?.size ?? 0) > 1 || name === '' ? `${name} #${id}` : name,
  }))
}

/** Reads usage by token and UTC day. The token id 0 is the sum of all other tokens. */
const tokenUsage = (ask: { from: number; to: number; signal?: AbortSignal }) =>
  call('GET /api/data/self/tokens', {
    query: { start_timestamp: ask.from, end_timestamp: ask.to },
    signal: ask.signal,
  })
