import type { CommonQueryMethods } from 'slonik'
import { type LogFilter, type LogSums, sumLogRows } from '#projections/logs/query.ts'
import {
  type PartsFilter,
  sumHours,
  sumPartDays,
  sumPartHours,
  usageKeyOf,
} from '#projections/usage/query.ts'

const HOUR = 3_600
const DAY = 86_400
const NO_END = Number.MAX_SAFE_INTEGER

const ZERO: LogSums = { count: 0, quota: 0n, promptTokens: 0, completionTokens: 0 }

/**
 * Stored sums by hour or by day. `seconds` is the length of an hour or a day. `sum` adds up the
 * hours or days that start between `from` and `to` (both included). Without `to`, the range has no
 * end.
 */
type Grain = {
  readonly seconds: number
  readonly sum: (range: { from: number; to?: number }) => Promise<LogSums>
}

/**
 * Returns the exact totals of the rows that match a filter. Whole days and hours are read as stored
 * sums, if there are such sums for the filter. The rest of the range, at both of its ends, is
 * summed from the rows of the log.
 */
export function sumLogs(db: CommonQueryMethods, filter: LogFilter, now: number): Promise<LogSums> {
  const { from = 0, to = now, ...rest } = filter
  // A range whose end is in the future is read without an end. Rows with a future time exist only
  // if the clocks of two servers differ.
  return sumRange(grainsFor(db, rest), (range) => sumLogRows(db, { ...rest, ...range }), {
    from,
    to: to >= now ? NO_END : to,
  })
}

type Range = { readonly from: number; readonly to: number }

async function sumRange(
  [grain, ...finer]: readonly Grain[],
  sumRows: (range: Range) => Promise<LogSums>,
  { from, to }: Range,
): Promise<LogSums> {
  if (from > to) return ZERO
  if (grain === undefined) return sumRows({ from, to })
  const { seconds, sum } = grain
  const start = Math.ceil(from / seconds) * seconds
  const end = to === NO_END ? NO_END : Math.floor((to + 1) / seconds) * seconds
  if (start >= end) return sumRange(finer, sumRows, { from, to })
  const parts = await Promise.all([
    sum({ from: start, ...(end === NO_END ? {} : { to: end - seconds }) }),
    sumRange(finer, sumRows, { from, to: start - 1 }),
    end === NO_END ? ZERO : sumRange(finer, sumRows, { from: end, to }),
  ])
  return parts.reduce(addSums)
}

/**
 * Returns the stored sums that can be used for a filter: sums by day first, then sums by hour.
 * Returns an empty list if there are no such sums for the filter.
 */
function grainsFor(db: CommonQueryMethods, filter: LogFilter): readonly Grain[] {
  const { userId, type, model, group, channelId, tokenIds } = filter
  // With these filters, few rows match, and an index finds these rows. The rows are therefore added
  // up without stored sums.
  if (filter.requestId !== undefined || filter.failedChannelId !== undefined) return []
  const dimensions = {
    ...(type === undefined ? {} : { type }),
    ...(model === undefined ? {} : { model }),
  }
  const parts = partsFor(filter)
  const hoursOfAll: Grain = {
    seconds: HOUR,
    sum: ({ from, to }) =>
      sumHours(db, {
        ...dimensions,
        ...(userId === undefined ? {} : { userId }),
        fromHour: from,
        ...(to === undefined ? {} : { toHour: to }),
      }),
  }
  if (parts.length === 0) return [hoursOfAll]
  const partsFilter: Omit<PartsFilter, 'from'> = {
    parts,
    ...dimensions,
    ...(group === undefined ? {} : { group }),
    ...(channelId === undefined ? {} : { channelId }),
  }
  const days: Grain = {
    seconds: DAY,
    sum: (range) => sumPartDays(db, { ...partsFilter, ...range }),
  }
  const hours: Grain = {
    seconds: HOUR,
    sum: (range) => sumPartHours(db, { ...partsFilter, ...range }),
  }
  if (tokenIds !== undefined) return [days]
  if (userId === undefined) return [days, hours]
  return group === undefined && channelId === undefined ? [days, hoursOfAll] : [days]
}

/**
 * Returns the keys under which the sums for a filter are stored. There are sums for each token,
 * user, channel and group. If the filter contains several of them, the first one in this order is
 * used, because it usually has the fewest rows.
 */
function partsFor({ userId, group, channelId, tokenIds }: LogFilter): readonly string[] {
  if (tokenIds !== undefined) return tokenIds.map(usageKeyOf.token)
  if (userId !== undefined) return [usageKeyOf.user(userId)]
  if (channelId !== undefined) return [usageKeyOf.channel(channelId)]
  return group === undefined ? [] : [usageKeyOf.group(group)]
}

const addSums = (a: LogSums, b: LogSums): LogSums => ({
  count: a.count + b.count,
  quota: a.quota + b.quota,
  promptTokens: a.promptTokens + b.promptTokens,
  completionTokens: a.completionTokens + b.completionTokens,
})
