import { queryOptions } from '@tanstack/react-query'
import type { HealthHistory, HistoryRange } from '#read-api/contract/channel-health-history.ts'
import { request } from '../request.ts'
import { healthKey } from './get-health.ts'

const EVERY_MS = 60_000

/** A channel's successes and latency over time, up to now. */
export const healthHistoryQuery = (channelId: number, range: HistoryRange) =>
  queryOptions({
    queryKey: [...healthKey, 'history', channelId, range],
    queryFn: async ({ signal }) => {
      const path = `/api/channel/${channelId}/health_history`
      return (await request<HealthHistory>({ path, query: { range }, signal })).data
    },
    refetchInterval: EVERY_MS,
  })
