import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '#console/api/client.ts'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { callsByHour } from '#console/api/usage-log-queries.ts'
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

export function useUsagePoints(
  { scope, by, range, zoom, calendar }: UsageQuery,
  pollIntervalMs: number | false,
) {
  return useQuery({
    queryKey: [...usageKey, scope, by, zoom ?? range, calendar],
    queryFn: async ({ signal }) => {
      const interval = requestedInterval({ range, zoom, calendar })
      const points = await read({ ...interval, scope, by, signal })
      return { ...interval, points }
    },
    placeholderData: keepPreviousData,
    // Reads the data on every mount, because live events update the data only while the page is
    // open.
    refetchOnMount: 'always',
    refetchInterval: pollIntervalMs,
  })
}

export const requestedInterval = ({
  range,
  zoom,
  calendar,
}: Omit<UsageQuery, 'scope' | 'by'>): Interval =>
  zoom === null ? intervalOf(range, currentSeconds(), calendar) : extendToSteps(zoom, calendar)

async function read(
  request: Interval & { scope: UsageScope; by: UsageBy; signal: AbortSignal },
): Promise<ChartPoint[]> {
  if (request.by === 'token') return tokenPoints(await tokenUsage(request))
  const points = await callsByHour({ ...request, username: '' })
  return points.map(({ model_name: series, ...point }) => ({ series, ...point }))
}

/**
 * Returns the points of the chart by token. If a token has no name or the same name as another
 * token, the name is followed by the token's id. The series with an empty name contains the usage
 * with the token id 0.
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

/**
 * Reads the user's usage by token and UTC day. The entry with the token id 0 contains the usage of
 * all tokens without a separate entry.
 */
const tokenUsage = (request: { from: number; to: number; signal?: AbortSignal }) =>
  call('GET /api/data/self/tokens', {
    query: { start_timestamp: request.from, end_timestamp: request.to },
    signal: request.signal,
  })
