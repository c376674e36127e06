import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { OPTION_CHANGE_FIELDS } from '#read-api/contract/options.ts'
import type { Listed, Slice } from '../list-paging-and-sorting.ts'
import { fieldColumns, selectedFields } from '../resource-field-columns.ts'

const changeRow = rowType({
  ...fieldColumns(OPTION_CHANGE_FIELDS),
  /** The user who made or scheduled the change, in the form `user:7`. */
  actor: Type.String(),
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
    select ${selectedFields('c', OPTION_CHANGE_FIELDS)}, coalesce(p.actor, c.actor) as actor
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
