import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { Listed, Slice } from '../like.ts'

const changeRow = rowType({
  /** The position of its event. */
  id: wireInteger,
  key: Type.String(),
  /** null when the previous value is unknown. A secret that is set reads `***`. */
  before: nullable(Type.String()),
  after: Type.String(),
  /** As in events, `user:7`; for a scheduled change, the user who scheduled it. */
  actor: Type.String(),
  /** null when the change was not scheduled. */
  plannedId: nullable(wireInteger),
  /** Unix milliseconds. */
  at: wireInteger,
})
export type OptionChangeRow = RowOf<typeof changeRow>

/** Lists changes of these options, or of all (null), newest first. */
export async function listOptionChanges(
  db: CommonQueryMethods,
  { keys, limit, offset }: Slice & { keys: readonly string[] | null },
): Promise<Listed<OptionChangeRow>> {
  const matches =
    keys === null ? sql.fragment`true` : sql.fragment`c.key = any(${sql.array(keys, 'text')})`
  const rows = await db.any(sql.type(changeRow)`
    select c.id, c.key, c.before, c.after, coalesce(p.actor, c.actor) as actor,
      c.planned_id as "plannedId", c.at
    from read_option_changes.option_changes c
    left join read_price_schedule.planned p on p.id = c.planned_id
    where ${matches}
    order by c.id desc limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total from read_option_changes.option_changes c where ${matches}
  `)
  return { rows, total }
}
