import type { LogParams } from '#console/api/logs/log-query.ts'
import type { LogFilters } from './filters.ts'
import { boundsOf } from './time-range.ts'

/** The filters as the server takes them; a range that moves gets its ends at `now`. */
export function logParams(filters: LogFilters, now: number): LogParams {
  const { from, to } = boundsOf(filters.range, now)
  return {
    type: filters.type === 0 ? undefined : filters.type,
    token_name: filters.token,
    model_name: filters.model,
    group: filters.group,
    channel: filters.channel === 0 ? undefined : filters.channel,
    username: filters.username,
    start_timestamp: from ?? undefined,
    end_timestamp: to ?? undefined,
  }
}
