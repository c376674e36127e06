import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { Listed, Slice } from '../list-queries.ts'

const changeRow = rowType({
  /** The position of the event that changed the option. */
  id: wireInteger,
  key: Type.String(),
  /**
   * The value before the change. It is null if the value is unknown. The value of a secret that is
   * set is `***`.
   */
  before: nullable(Type.String()),
  after: Type.String(),
  /**
   * The user who made the change, in the form `user:7`. For a scheduled change, this is the user
   * who scheduled it.
   */
  actor: Type.String(),
  /** The id of the scheduled change. It is null if the change was made immediately. */
  plannedId: nullable(wireInteger),
  /** The time of the change in unix milliseconds. */
  at: wireInteger,
})
export type OptionChangeRow = RowOf<typeof changeRow>

/**
 * Lists the changes of the options in `keys`, newest first. If `keys` is null, the changes of all
 * options are listed.
 */
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
