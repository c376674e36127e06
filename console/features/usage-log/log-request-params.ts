import { type LogParams, parseOtherField } from '#console/api/logs.ts'
import { boundsOf, isWithin, relativeRange } from '#console/ui/time-range/time-range.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { LogFilters } from './log-url-params.ts'

const ANY_TIME = relativeRange('all')

/**
 * Converts filters to the parameters of a request. A relative range, such as “the last 7 days”,
 * starts relative to `listOpenedAt` and ends relative to `now`. All pages of a list use the same
 * `listOpenedAt`, so that they are pages of the same set of rows. Times are in Unix seconds.
 */
export function logParams(filters: LogFilters, now: number, listOpenedAt = now): LogParams {
  const range = filters.request === '' ? filters.range : ANY_TIME
  const { from } = boundsOf(range, listOpenedAt)
  const { to } = boundsOf(range, now)
  return {
    type: filters.type === 0 ? undefined : filters.type,
    token_name: filters.token,
    model_name: filters.model,
    group: filters.group,
    request_id: filters.request,
    channel: filters.channel === 0 ? undefined : filters.channel,
    failed_channel: filters.failed_channel === 0 ? undefined : filters.failed_channel,
    username: filters.username,
    start_timestamp: from ?? undefined,
    end_timestamp: to ?? undefined,
  }
}

/**
 * Reports whether a row of a live event matches the filters and belongs to the user `ownId`. If
 * `ownId` is null, rows of all users match. `now` is in Unix seconds.
 */
export function matchesFilters(
  row: LogEntry,
  filters: LogFilters,
  now: number,
  ownId: number | null,
): boolean {
  if (ownId !== null && row.user_id !== ownId) return false
  if (filters.type !== 0 && row.type !== filters.type) return false
  if (filters.channel !== 0 && row.channel !== filters.channel) return false
  if (filters.failed_channel !== 0 && !hasFailedOn(row, filters.failed_channel)) return false
  const isSame = (filterValue: string, value: string): boolean =>
    filterValue === '' || filterValue === value
  return (
    isSame(filters.token, row.token_name) &&
    isSame(filters.model, row.model_name) &&
    isSame(filters.group, row.group) &&
    isSame(filters.username, row.username) &&
    (filters.request === ''
      ? isWithin(boundsOf(filters.range, now), row.created_at)
      : row.request_id.startsWith(filters.request))
  )
}

const hasFailedOn = (row: LogEntry, channelId: number): boolean =>
  parseOtherField(row).failed_channels?.includes(channelId) === true
