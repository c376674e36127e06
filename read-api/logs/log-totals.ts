import type { CommonQueryMethods } from 'slonik'
import { type LogFilter, type LogSums, sumLogRows } from '#projections/call-log/query.ts'
import {
  type PartsFilter,
  partOf,
  sumHours,
  sumPartDays,
  sumPartHours,
} from '#projections/usage-by-hour/query.ts'

const HOUR = 3_600
const DAY = 86_400
const OPEN = Number.MAX_SAFE_INTEGER

const NOTHING: LogSums = { count: 0, quota: 0n, promptTokens: 0, completionTokens: 0 }

/** Sums of whole hours or days; `to` is the start of the last, left out where there is no end. */
type Grain = {
  readonly seconds: number
  readonly sum: (range: { from: number; to?: number }) => Promise<LogSums>
}

/** Exact sums: whole days and hours from the rollups, what is left at both ends from the rows. */
export function sumLogs(db: CommonQueryMethods, filter: LogFilter, now: number): Promise<LogSums> {
  const { from = 0, to = now, ...rest } = filter
  // Nothing is later than now, give or take a clock: an end beyond it is no end.
  return sumRange(grainsFor(db, rest), (range) => sumLogRows(db, { ...rest, ...range }), {
    from,
    to: to >= now ? OPEN : to,
  })
}

type Range = { readonly from: number; readonly to: number }

async function sumRange(
  [grain, ...finer]: readonly Grain[],
  sumRows: (range: Range) => Promise<LogSums>,
  { from, to }: Range,
): Promise<LogSums> {
  if (from > to) return NOTHING
  if (grain === undefined) return sumRows({ from, to })
  const { seconds, sum } = grain
  const first = Math.ceil(from / seconds) * seconds
  const end = to === OPEN ? OPEN : Math.floor((to + 1) / seconds) * seconds
  if (first >= end) return sumRange(finer, sumRows, { from, to })
  const parts = await Promise.all([
    sum({ from: first, ...(end === OPEN ? {} : { to: end - seconds }) }),
    sumRange(finer, sumRows, { from, to: first - 1 }),
    end === OPEN ? NOTHING : sumRange(finer, sumRows, { from: end, to }),
  ])
  return parts.reduce(plus)
}

/** The rollups that know of all that is asked, the coarsest first. */
function grainsFor(db: CommonQueryMethods, filter: LogFilter): readonly Grain[] {
  const { userId, type, model, group, channelId, tokenIds, requestId } = filter
  // One call: found by its id alone.
  if (requestId !== undefined) return []
  const named = {
    ...(type === undefined ? {} : { type }),
    ...(model === undefined ? {} : { model }),
  }
  const parts = partsFor(filter)
  const hoursOfAll: Grain = {
    seconds: HOUR,
    sum: ({ from, to }) =>
      sumHours(db, {
        ...named,
        ...(userId === undefined ? {} : { userId }),
        ...{ fromHour: from, ...(to === undefined ? {} : { toHour: to }) },
      }),
  }
  if (parts.length === 0) return [hoursOfAll]
  const asked: Omit<PartsFilter, 'from'> = {
    ...{ parts, ...named },
    ...(group === undefined ? {} : { group }),
    ...(channelId === undefined ? {} : { channelId }),
  }
  const days: Grain = { seconds: DAY, sum: (range) => sumPartDays(db, { ...asked, ...range }) }
  const hours: Grain = { seconds: HOUR, sum: (range) => sumPartHours(db, { ...asked, ...range }) }
  if (tokenIds !== undefined) return [days]
  if (userId === undefined) return [days, hours]
  return group === undefined && channelId === undefined ? [days, hoursOfAll] : [days]
}

/** The narrowest part; a token is its user's alone. None where everybody's are asked for. */
function partsFor({ userId, group, channelId, tokenIds }: LogFilter): readonly string[] {
  if (tokenIds !== undefined) return tokenIds.map(partOf.token)
  if (userId !== undefined) return [partOf.user(userId)]
  if (channelId !== undefined) return [partOf.channel(channelId)]
  return group === undefined ? [] : [partOf.group(group)]
}

const plus = (a: LogSums, b: LogSums): LogSums => ({
  count: a.count + b.count,
  quota: a.quota + b.quota,
  promptTokens: a.promptTokens + b.promptTokens,
  completionTokens: a.completionTokens + b.completionTokens,
})
