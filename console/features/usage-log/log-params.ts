import type { LogParams } from '#console/api/logs/log-query.ts'
import { boundsOf } from '#console/ui/time-range/time-range.ts'
import type { LogFilters } from './filters.ts'

/**
 * The filters as the server takes them; a range that moves gets its end at `now`, and its start at
 * `begunAt`, which stays while one pages.
 */
export function logParams(filters: LogFilters, now: number, begunAt = now): LogParams {
  const { from } = boundsOf(filters.range, begunAt)
  const { to } = boundsOf(filters.range, now)
  return {
    type: filters.type === 0 ? undefined : filters.type,
    token_name: filters.token,
    model_name: filters.model,
    group: filters.group,
    request_id: filters.request,
    channel: filters.channel === 0 ? undefined : filters.channel,
    username: filters.username,
    start_timestamp: from ?? undefined,
    end_timestamp: to ?? undefined,
  }
}
