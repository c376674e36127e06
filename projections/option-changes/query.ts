import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { Listed, Slice } from '../list-queries.ts'

const changeRow = rowType({
  /** The position of the event that changed the option. */
  id: wireInteger,
  key: Type.String(),
  /** The value before the change, `***` for a secret that is set, or null if unknown. */
  before: nullable(Type.String()),
  after: Type.String(),
  /** The user in the form `user:7` who made or scheduled the change. */
  actor: Type.String(),
  /** The id of the scheduled change, or null for an immediate change. */
  plannedId: nullable(wireInteger),
  /** In unix milliseconds. */
  at: wireInteger,
})
export type OptionChangeRow = RowOf<typeof changeRow>

/** Lists the changes of the options in `keys` (null: all options), newest first. */
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
