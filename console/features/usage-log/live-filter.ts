import { boundsOf, isWithin } from '#console/ui/time-range/time-range.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { LogFilters } from './filters.ts'

/**
 * Returns true if the list would contain the live row by the server's filter rules. `now` is in
 * unix seconds. `ownId` is null if the list has the rows of all users.
 */
export function isListed(
  row: LogEntry,
  filters: LogFilters,
  now: number,
  ownId: number | null,
): boolean {
  if (ownId !== null && row.user_id !== ownId) return false
  if (filters.type !== 0 && row.type !== filters.type) return false
  if (filters.channel !== 0 && row.channel !== filters.channel) return false
  const isSame = (wanted: string, value: string): boolean => wanted === '' || wanted === value
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
