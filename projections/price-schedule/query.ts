import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { SCHEDULED_CHANGE_FIELDS } from '#read-api/contract/options.ts'
import type { Listed, Slice } from '../list-paging-and-sorting.ts'
import { fieldColumns, selectedFields } from '../resource-field-columns.ts'

const plannedChange = rowType({
  ...fieldColumns(SCHEDULED_CHANGE_FIELDS),
  username: Type.String(),
  changes: Type.Array(
    Type.Object({ option: Type.String(), name: Type.String(), value: nullable(Type.String()) }),
  ),
})
export type PlannedChange = RowOf<typeof plannedChange>

/**
 * Lists scheduled price changes: first the pending ones by due time, then all others, of which
 * those that ended last come first.
 */
export async function plannedChanges(
  db: CommonQueryMethods,
  { limit, offset }: Slice,
): Promise<Listed<PlannedChange>> {
  const rows = await db.any(sql.type(plannedChange)`
    select ${selectedFields('p', SCHEDULED_CHANGE_FIELDS)},
      coalesce(u.username, '') as username, p.changes
    from read_price_schedule.planned p
    left join read_users.users u on 'user:' || u.id = p.actor
    order by p.status <> 'planned', case when p.status = 'planned' then p.due_at end,
      p.ended_at desc, p.id desc
    limit ${limit} offset ${offset}
  `)
  const total = await db.oneFirst(sql.type(rowType({ total: wireInteger }))`
    select count(*) as total from read_price_schedule.planned
  `)
  return { rows, total }
}
