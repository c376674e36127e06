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
 * Stored sums of equal periods, which are hours or days. `sum` adds the periods that start between
 * `from` and `to`, including both. Without `to`, the range has no end.
 */
type Grain = {
  readonly seconds: number
  readonly sum: (range: { from: number; to?: number }) => Promise<LogSums>
}

/**
 * Returns the exact totals of the rows that match a filter. Complete days and hours come from
 * stored sums. The remaining minutes and seconds are added from the rows of the log.
 */
export function sumLogs(db: CommonQueryMethods, filter: LogFilter, now: number): Promise<LogSums> {
  const { from = 0, to = now, ...rest } = filter
  // If the end is in the future, the range has no end. Rows with a future time only exist if the
  // clocks of two servers differ.
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
 * Returns the stored sums that can be used for a filter. Sums of days come before sums of hours.
 */
function grainsFor(db: CommonQueryMethods, filter: LogFilter): readonly Grain[] {
  const { userId, type, model, group, channelId, tokenIds } = filter
  // With these filters, no stored sums are needed. Few rows match, and an index finds them.
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
 * Returns the keys under which the sums for a filter are stored. A filter may contain tokens, a
 * user, a channel and a group. The first of these is used, because the fewest rows match it.
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
