import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import { PLAYGROUND_NAME, playgroundTokenId } from '#domain/shared/playground-token-id.ts'
import {
  countSum,
  quota,
  quotaSum,
  type RowOf,
  rowType,
  wireInteger,
} from '#infra/postgres/row-types.ts'
import { usageKeyOf } from './usage-sum-keys.ts'

export { usageKeyOf } from './usage-sum-keys.ts'

/**
 * A filter of hourly sums. `fromHour` and `toHour` are the Unix seconds at which the first and the
 * last hour of the range start.
 */
export type HoursFilter = {
  /** The user whose sums are read. If it is omitted, the sums are for all users. */
  readonly userId?: number
  readonly type?: number
  readonly model?: string
  readonly fromHour?: number
  readonly toHour?: number
}

const source = ({ userId, type, model, fromHour, toHour }: HoursFilter) => {
  const table =
    userId === undefined
      ? sql.fragment`read_usage_by_hour.by_model where true`
      : sql.fragment`read_usage_by_hour.by_user_and_model where user_id = ${userId}`
  return sql.join(
    [
      table,
      ...(type === undefined ? [] : [sql.fragment`type = ${type}`]),
      ...(model === undefined ? [] : [sql.fragment`model = ${model}`]),
      ...(fromHour === undefined ? [] : [sql.fragment`hour >= ${fromHour}`]),
      ...(toHour === undefined ? [] : [sql.fragment`hour <= ${toHour}`]),
    ],
    sql.fragment` and `,
  )
}

const usagePoint = rowType({
  hour: wireInteger,
  model: Type.String(),
  count: wireInteger,
  quota,
  tokens: wireInteger,
})
export type UsagePoint = RowOf<typeof usagePoint>

/** Reads charged calls (type 2) by hour and model, without hours that have no charged calls. */
export const usagePoints = (
  db: CommonQueryMethods,
  filter: HoursFilter,
): Promise<readonly UsagePoint[]> =>
  db.any(sql.type(usagePoint)`
    select hour, model, count, quota, prompt_tokens + completion_tokens as tokens
    from ${source({ ...filter, type: 2 })} order by hour, model
  `)

const usageSums = rowType({
  count: countSum,
  quota: quotaSum,
  promptTokens: countSum,
  completionTokens: countSum,
})
export type UsageSums = RowOf<typeof usageSums>

export const sumHours = (db: CommonQueryMethods, filter: HoursFilter): Promise<UsageSums> =>
  db.one(sums(sql.fragment`${source(filter)}`))

/**
 * A filter of the sums per user, token, channel or group. `parts` contains keys of `usageKeyOf`,
 * such as `channel:3`. `from` and `to` are the Unix seconds at which the first and the last hour or
 * day start.
 */
export type PartsFilter = {
  readonly parts: readonly string[]
  readonly type?: number
  readonly model?: string
  readonly group?: string
  readonly channelId?: number
  readonly from: number
  readonly to?: number
}

/** Sums the usage of channels or groups over hours. */
export const sumPartHours = (db: CommonQueryMethods, filter: PartsFilter): Promise<UsageSums> =>
  db.one(sums(sql.fragment`read_usage_by_hour.by_part where ${inParts(filter, HOUR)}`))

/** Sums the usage of channels, groups, users or tokens over days. */
export const sumPartDays = (db: CommonQueryMethods, filter: PartsFilter): Promise<UsageSums> =>
  db.one(sums(sql.fragment`read_usage_by_hour.by_day where ${inParts(filter, DAY)}`))

const HOUR = sql.fragment`hour`
const DAY = sql.fragment`day`
type TimeColumn = typeof HOUR

function inParts(
  { parts, type, model, group, channelId, from, to }: PartsFilter,
  time: TimeColumn,
) {
  return sql.join(
    [
      sql.fragment`part = any(${sql.array([...parts], 'text')}) and ${time} >= ${from}`,
      ...(to === undefined ? [] : [sql.fragment`${time} <= ${to}`]),
      ...(type === undefined ? [] : [sql.fragment`type = ${type}`]),
      ...(model === undefined ? [] : [sql.fragment`model = ${model}`]),
      ...(group === undefined ? [] : [sql.fragment`call_group = ${group}`]),
      ...(channelId === undefined ? [] : [sql.fragment`channel_id = ${channelId}`]),
    ],
    sql.fragment` and `,
  )
}

const sums = (from: TimeColumn) => sql.type(usageSums)`
  select coalesce(sum(count), 0)::text as count, coalesce(sum(quota), 0)::text as quota,
    coalesce(sum(prompt_tokens), 0)::text as "promptTokens",
    coalesce(sum(completion_tokens), 0)::text as "completionTokens"
  from ${from}
`

const DAY_SECONDS = 86_400

/** The Unix seconds at which the first and the last hour of the range start. */
export type Hours = { readonly fromHour: number; readonly toHour: number }

const spent = { count: wireInteger, quota, tokens: wireInteger }

/**
 * Sums over the calls whose provider cost is known. `cost` is computed from the price of each
 * provider, and `costedQuota` is what users were charged.
 */
const costed = { cost: quota, costedQuota: quota }

const siteSums = rowType({
  ...{ ...spent, ...costed, failed: wireInteger },
  ...{ inputTokens: wireInteger, cacheReadTokens: wireInteger, cacheSaved: quota },
})

/**
 * Reads the site's charges (type 2), the costs at the providers, the effect of providers' caches,
 * and the number of failed calls (type 6).
 */
export const siteSpent = (db: CommonQueryMethods, { fromHour, toHour }: Hours) =>
  db.one(sql.type(siteSums)`
    select coalesce(sum(count) filter (where type = 2), 0)::int8 as count,
      coalesce(sum(quota) filter (where type = 2), 0)::int8 as quota,
      coalesce(sum(prompt_tokens + completion_tokens) filter (where type = 2), 0)::int8 as tokens,
      coalesce(sum(cost), 0)::int8 as cost, coalesce(sum(costed_quota), 0)::int8 as "costedQuota",
      coalesce(sum(prompt_tokens) filter (where type = 2), 0)::int8 as "inputTokens",
      coalesce(sum(cache_read_tokens), 0)::int8 as "cacheReadTokens",
      coalesce(sum(cache_saved), 0)::int8 as "cacheSaved",
      coalesce(sum(count) filter (where type = 6), 0)::int8 as failed
    from read_usage_by_hour.by_model where hour >= ${fromHour} and hour <= ${toHour}
  `)

const modelSpent = rowType({ model: Type.String(), ...spent, ...costed })

export const topModels = (db: CommonQueryMethods, { fromHour, toHour }: Hours, limit: number) =>
  db.any(sql.type(modelSpent)`
    select model, sum(count)::int8 as count, sum(quota)::int8 as quota,
      sum(prompt_tokens + completion_tokens)::int8 as tokens,
      sum(cost)::int8 as cost, sum(costed_quota)::int8 as "costedQuota"
    from read_usage_by_hour.by_model
    where type = 2 and hour >= ${fromHour} and hour <= ${toHour}
    group by model order by 3 desc, 1 limit ${limit}
  `)

const userSpent = rowType({
  userId: wireInteger,
  /** The user's name, or empty if the user was erased. */
  username: Type.String(),
  ...spent,
  /** The number of all users with charges in the range. */
  users: wireInteger,
})

/**
 * Reads the users with the highest charges. Daily sums are used for complete days, and hourly sums
 * for the remaining hours.
 */
export function topUsers(db: CommonQueryMethods, { fromHour, toHour }: Hours, limit: number) {
  const { first, last, end } = wholeDays({ fromHour, toHour })
  const hours = (from: number, to: number) => sql.fragment`
    select user_id, count, quota, prompt_tokens + completion_tokens as tokens
    from read_usage_by_hour.by_user_and_model where type = 2 and hour >= ${from} and hour < ${to}
  `
  return db.any(sql.type(userSpent)`
    with charged as (
      select user_id, count, quota, prompt_tokens + completion_tokens as tokens
      from read_usage_by_hour.charged_by_day where day >= ${first} and day < ${last}
      union all ${hours(fromHour, first)} union all ${hours(last, end)}
    ), top as (
      select user_id, sum(count)::int8 as count, sum(quota)::int8 as quota,
        sum(tokens)::int8 as tokens, count(*) over () as users
      from charged group by user_id order by 3 desc, 1 limit ${limit}
    )
    select user_id as "userId", coalesce(u.username, '') as username, count, top.quota, tokens,
      users
    from top left join read_users.users u on u.id = user_id order by top.quota desc, user_id
  `)
}

/**
 * Returns the complete days in the range, from `first` (inclusive) to `last` (exclusive). `end` is
 * the end of the range (exclusive). The remaining hours are before `first` and from `last` on.
 */
function wholeDays({ fromHour, toHour }: Hours) {
  const end = toHour + 3_600
  const first = Math.min(end, Math.ceil(fromHour / DAY_SECONDS) * DAY_SECONDS)
  const last = Math.max(first, Math.floor(end / DAY_SECONDS) * DAY_SECONDS)
  return { first, last, end }
}

const channelSpent = rowType({ channelId: wireInteger, name: Type.String(), ...spent, ...costed })

/**
 * Reads the channels with the highest charges, including deleted channels. Like `topUsers`, this
 * function uses daily and hourly sums.
 */
export function topChannels(db: CommonQueryMethods, hours: Hours, limit: number) {
  const { first, last, end } = wholeDays(hours)
  const cells = sql.fragment`
    p.count, p.quota, p.prompt_tokens + p.completion_tokens as tokens, p.cost, p.costed_quota
  `
  const within = (from: number, to: number) => sql.fragment`
    select c.id, c.name, ${cells} from read_channels.channels c
      join read_usage_by_hour.by_part p on p.part = 'channel:' || c.id
    where p.type = 2 and p.hour >= ${from} and p.hour < ${to}
  `
  return db.any(sql.type(channelSpent)`
    with charged as (
      select c.id, c.name, ${cells} from read_channels.channels c
        join read_usage_by_hour.by_day p on p.part = 'channel:' || c.id
      where p.type = 2 and p.day >= ${first} and p.day < ${last}
      union all ${within(hours.fromHour, first)} union all ${within(last, end)}
    )
    select id as "channelId", name, sum(count)::int8 as count, sum(quota)::int8 as quota,
      sum(tokens)::int8 as tokens, sum(cost)::int8 as cost, sum(costed_quota)::int8 as "costedQuota"
    from charged group by id, name order by 4 desc, 1 limit ${limit}
  `)
}

const dayPoint = rowType({ day: wireInteger, ...spent })
const tokenPoint = rowType({
  day: wireInteger,
  ...spent,
  tokenId: wireInteger,
  name: Type.String(),
})

export type Days = { readonly fromDay: number; readonly toDay: number }

/** Reads a user's charges by UTC day in one snapshot: in total, and for the most used tokens. */
export const daysOfUser = (db: DatabasePool, userId: number, days: Days, tokensMax: number) =>
  db.transaction(async (snapshot) => {
    await snapshot.query(sql.unsafe`set transaction isolation level repeatable read, read only`)
    return {
      totals: await userDays(snapshot, userId, days),
      perToken: await tokenDays(snapshot, userId, days, tokensMax),
    }
  })

const userDays = (db: CommonQueryMethods, userId: number, { fromDay, toDay }: Days) =>
  db.any(sql.type(dayPoint)`
    select day, sum(count)::int8 as count, sum(quota)::int8 as quota,
      sum(prompt_tokens + completion_tokens)::int8 as tokens
    from read_usage_by_hour.by_day
    where part = ${usageKeyOf.user(userId)} and type = 2 and day >= ${fromDay} and day <= ${toDay}
    group by day order by day
  `)

/**
 * Reads a user's charges by UTC day, for each of the most used tokens and for the playground.
 * Deleted tokens are included.
 */
const tokenDays = (
  db: CommonQueryMethods,
  userId: number,
  { fromDay, toDay }: Days,
  limit: number,
) =>
  db.any(sql.type(tokenPoint)`
    with used as (
      select token_id from read_balances.token_budgets
      where user_id = ${userId} and accessed_at >= ${fromDay}
      order by used_quota desc, token_id limit ${limit}
    ), named as (
      select t.id, t.name from used join read_tokens.tokens t on t.id = used.token_id
      union all select ${playgroundTokenId(userId)}::int8, ${PLAYGROUND_NAME}
    )
    select d.day, t.id as "tokenId", t.name, sum(d.count)::int8 as count,
      sum(d.quota)::int8 as quota, sum(d.prompt_tokens + d.completion_tokens)::int8 as tokens
    from named t join read_usage_by_hour.by_day d on d.part = 'token:' || t.id
    where d.type = 2 and d.day >= ${fromDay} and d.day <= ${toDay}
    group by d.day, t.id, t.name order by d.day, t.id
  `)

const channelDay = rowType({
  day: Type.String(),
  model: Type.String(),
  calls: wireInteger,
  tokens: wireInteger,
  cost: wireInteger,
  charged: wireInteger,
})
export type ChannelDay = RowOf<typeof channelDay>

/**
 * Sums the charged calls of a channel by UTC day and model. `from` and `to` are the Unix seconds at
 * which the first and the last day start.
 */
export const channelDays = (
  db: CommonQueryMethods,
  channelId: number,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly ChannelDay[]> =>
  db.any(sql.type(channelDay)`
    select to_char(to_timestamp(day) at time zone 'UTC', 'YYYY-MM-DD') as day, model,
      sum(count)::int8 as calls, sum(prompt_tokens + completion_tokens)::int8 as tokens,
      sum(cost)::int8 as cost, sum(quota)::int8 as charged
    from read_usage_by_hour.by_day
    where part = ${usageKeyOf.channel(channelId)} and type = 2 and day >= ${from} and day <= ${to}
    group by by_day.day, model
    order by by_day.day, model
  `)

const channelCharges = rowType({
  channelId: wireInteger,
  name: Type.String(),
  model: Type.String(),
  calls: wireInteger,
  charged: wireInteger,
  /** The charges on days that an invoice covers. */
  invoiced: wireInteger,
  /** The sum of the known provider costs on days that no invoice covers. */
  expected: wireInteger,
  /** The charges of the calls with a known provider cost on days that no invoice covers. */
  costed: wireInteger,
})

/** The days of a channel that an invoice covers. Both ends are starts of days in Unix seconds. */
type CoveredDays = {
  readonly channelId: number
  readonly firstDay: number
  readonly lastDay: number
}

/**
 * Sums the charged calls of all channels, including deleted channels, by model. `from` and `to` are
 * the Unix seconds at which the first and the last day start.
 */
export const chargesByChannel = (
  db: CommonQueryMethods,
  { from, to }: { readonly from: number; readonly to: number },
  covered: readonly CoveredDays[],
): Promise<readonly RowOf<typeof channelCharges>[]> => {
  const array = (name: keyof CoveredDays) =>
    sql.array(
      covered.map((days) => days[name]),
      'int8',
    )
  return db.any(sql.type(channelCharges)`
    select c.id as "channelId", c.name, d.model, sum(d.count)::int8 as calls,
      sum(d.quota)::int8 as charged,
      coalesce(sum(d.quota) filter (where is_covered), 0)::int8 as invoiced,
      coalesce(sum(d.cost) filter (where not is_covered), 0)::int8 as expected,
      coalesce(sum(d.costed_quota) filter (where not is_covered), 0)::int8 as costed
    from read_channels.channels c
      join read_usage_by_hour.by_day d on d.part = 'channel:' || c.id
      cross join lateral (select exists (
        select from unnest(${array('channelId')}, ${array('firstDay')}, ${array('lastDay')})
          as days (channel_id, first_day, last_day)
        where days.channel_id = c.id and d.day between days.first_day and days.last_day
      ) as is_covered) covered
    where d.type = 2 and d.day >= ${from} and d.day <= ${to}
    group by c.id, c.name, d.model
  `)
}
