import type { CommonQueryMethods } from 'slonik'
import {
  countLogRows,
  type LogFilter,
  type LogSums,
  sumLogRows,
} from '#projections/call-log/query.ts'
import { type HoursFilter, sumHours } from '#projections/usage-by-hour/query.ts'

const HOUR = 3_600
const COUNT_MAX = 10_000

const NOTHING: LogSums = { count: 0, quota: 0n, promptTokens: 0, completionTokens: 0 }

/** How many rows match; counted no further than 10 000 where no rollup answers. */
export async function countLogs(
  db: CommonQueryMethods,
  filter: LogFilter,
  now: number,
): Promise<{ total: number; isCapped: boolean }> {
  if (isRolledUp(filter)) {
    return { total: (await sumLogs(db, filter, now)).count, isCapped: false }
  }
  const total = await countLogRows(db, filter, COUNT_MAX + 1)
  return { total: Math.min(total, COUNT_MAX), isCapped: total > COUNT_MAX }
}

/** Exact sums: whole hours from the rollups, their edges (and other filters) from the rows. */
export async function sumLogs(
  db: CommonQueryMethods,
  filter: LogFilter,
  now: number,
): Promise<LogSums> {
  if (!isRolledUp(filter)) return sumLogRows(db, filter)
  const { from = 0, to = now, ...rest } = filter
  // Nothing is later than now, give or take a clock: an end beyond it is no end.
  const isOpen = to >= now
  const fromHour = Math.ceil(from / HOUR) * HOUR
  const endHour = isOpen ? Number.MAX_SAFE_INTEGER : Math.floor((to + 1) / HOUR) * HOUR
  if (fromHour >= endHour) return sumLogRows(db, filter)
  const hours: HoursFilter = { ...rest, fromHour, ...(isOpen ? {} : { toHour: endHour - HOUR }) }
  const parts = await Promise.all([
    sumHours(db, hours),
    from < fromHour ? sumLogRows(db, { ...rest, from, to: fromHour - 1 }) : NOTHING,
    !isOpen && to >= endHour ? sumLogRows(db, { ...rest, from: endHour, to }) : NOTHING,
  ])
  return parts.reduce(plus)
}

const isRolledUp = ({ tokenIds, channelId, group }: LogFilter): boolean =>
  tokenIds === undefined && channelId === undefined && group === undefined

const plus = (a: LogSums, b: LogSums): LogSums => ({
  count: a.count + b.count,
  quota: a.quota + b.quota,
  promptTokens: a.promptTokens + b.promptTokens,
  completionTokens: a.completionTokens + b.completionTokens,
})
