import { type CommonQueryMethods, sql } from 'slonik'
import { z } from 'zod'
import { quota, wireInteger } from '#infra/postgres/row-types.ts'

export { partOf } from './part.ts'

/** Hours are named by the unix second they start at; both ends included. */
export type HoursFilter = {
  /** One user's; everybody's when absent. */
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

const usagePoint = z.object({
  hour: wireInteger,
  model: z.string(),
  count: wireInteger,
  quota,
  tokens: wireInteger,
})
export type UsagePoint = z.infer<typeof usagePoint>

/** Calls that were charged (type 2), by hour and model; hours without any are left out. */
export const usagePoints = (
  db: CommonQueryMethods,
  filter: HoursFilter,
): Promise<readonly UsagePoint[]> =>
  db.any(sql.type(usagePoint)`
    select hour, model, count, quota, prompt_tokens + completion_tokens as tokens
    from ${source({ ...filter, type: 2 })} order by hour, model
  `)

const usageSums = z.object({
  count: z.string().transform(Number),
  quota: z.string().transform(BigInt),
  promptTokens: z.string().transform(Number),
  completionTokens: z.string().transform(Number),
})
export type UsageSums = z.infer<typeof usageSums>

export const sumHours = (db: CommonQueryMethods, filter: HoursFilter): Promise<UsageSums> =>
  db.one(sums(sql.fragment`${source(filter)}`))

/** Rows of some parts (see `partOf`); times are the seconds that an hour or a day starts at. */
export type PartsFilter = {
  readonly parts: readonly string[]
  readonly type?: number
  readonly model?: string
  readonly group?: string
  readonly channelId?: number
  readonly from: number
  readonly to?: number
}

/** Of a channel or a group. */
export const sumPartHours = (db: CommonQueryMethods, filter: PartsFilter): Promise<UsageSums> =>
  db.one(sums(sql.fragment`read_usage_by_hour.by_part where ${inParts(filter, HOUR)}`))

/** Of a user or a token too. */
export const sumPartDays = (db: CommonQueryMethods, filter: PartsFilter): Promise<UsageSums> =>
  db.one(sums(sql.fragment`read_usage_by_hour.by_day where ${inParts(filter, DAY)}`))

const HOUR = sql.fragment`hour`
const DAY = sql.fragment`day`
type Piece = typeof HOUR

function inParts({ parts, type, model, group, channelId, from, to }: PartsFilter, time: Piece) {
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

const sums = (from: Piece) => sql.type(usageSums)`
  select coalesce(sum(count), 0)::text as count, coalesce(sum(quota), 0)::text as quota,
    coalesce(sum(prompt_tokens), 0)::text as "promptTokens",
    coalesce(sum(completion_tokens), 0)::text as "completionTokens"
  from ${from}
`
