import { type CommonQueryMethods, sql } from 'slonik'
import { z } from 'zod'
import { quota, wireInteger } from '#infra/postgres/row-types.ts'

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
  db.one(sql.type(usageSums)`
    select coalesce(sum(count), 0)::text as count, coalesce(sum(quota), 0)::text as quota,
      coalesce(sum(prompt_tokens), 0)::text as "promptTokens",
      coalesce(sum(completion_tokens), 0)::text as "completionTokens"
    from ${source(filter)}
  `)
