import type { LogParams } from '#console/api/logs.ts'
import { boundsOf, relativeRange } from '#console/ui/time-range/time-range.ts'
import type { LogFilters } from './filters.ts'

const ANY_TIME = relativeRange('all')

/**
 * Converts the filters to query parameters. A relative range, such as the last 24 hours, starts
 * relative to `begunAt`, which all pages share, and ends at `now`. A search by request id ignores
 * the range.
 */
export function logParams(filters: LogFilters, now: number, begunAt = now): LogParams {
  const range = filters.request === '' ? filters.range : ANY_TIME
  const { from } = boundsOf(range, begunAt)
  const { to } = boundsOf(range, now)
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
