import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { containing, type Listed, type Slice } from '../like.ts'

const priceChange = rowType({
  /** Of its event. */
  position: wireInteger,
  place: Type.Number(),
  /** Unix seconds. */
  changedAt: wireInteger,
  /** As events say it, `user:1`: of a scheduled change, who planned it. */
  actor: Type.String(),
  /** null: not scheduled. */
  plannedId: nullable(wireInteger),
  /** Empty where a user acted who is none any more, or the system. */
  username: Type.String(),
  option: Type.String(),
  model: Type.String(),
  group: Type.String(),
  userGroup: Type.String(),
  /** null: it had none of its own. */
  before: nullable(Type.String()),
  after: nullable(Type.String()),
})
export type PriceChange = RowOf<typeof priceChange>

type Wanted = Slice & {
  /** The whole name. */
  readonly model: string
  /** Anywhere in a model's name. */
  readonly keyword: string
  readonly group: string
}

/** Newest first; empty filters let everything through. */
export async function priceChanges(
  db: CommonQueryMethods,
  { model, keyword, group, limit, offset }: Wanted,
): Promise<Listed<PriceChange>> {
  const matches = sql.fragment`
    (${model} = '' or model = ${model})
    and (${keyword} = '' or model ilike ${containing(keyword)})
    and (${group} = '' or group_name = ${group} or user_group = ${group})
  `
  const rows = await db.any(sql.type(priceChange)`
    with chosen as materialized (
      select * from read_price_history.changes where ${matches}
      order by position desc, place limit ${limit} offset ${offset}
    )
    select c.position, c.place, c.changed_at as "changedAt",
      coalesce(p.actor, c.actor) as actor, c.planned_id as "plannedId",
      coalesce(u.username, '') as username, c.option_key as option, c.model,
      c.group_name as "group", c.user_group as "userGroup",
      c.before_value as before, c.after_value as after
    from chosen c
    left join read_price_schedule.planned p on p.id = c.planned_id
    left join read_users.users u on 'user:' || u.id = coalesce(p.actor, c.actor)
    order by c.position desc, c.place
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total from read_price_history.changes where ${matches}
  `)
  return { rows, total }
}
