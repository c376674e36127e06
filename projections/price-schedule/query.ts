import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { Listed, Slice } from '../list-queries.ts'

const plannedChange = rowType({
  id: wireInteger,
  /**
   * The time at which the change is due, in unix seconds. `madeAt` and `endedAt` are also in unix
   * seconds.
   */
  dueAt: wireInteger,
  madeAt: wireInteger,
  username: Type.String(),
  changes: Type.Array(
    Type.Object({ option: Type.String(), name: Type.String(), value: nullable(Type.String()) }),
  ),
  status: Type.Enum(['planned', 'applied', 'cancelled', 'failed']),
  /**
   * The time at which the change was applied, was cancelled or failed. It is null while the change
   * is pending.
   */
  endedAt: nullable(wireInteger),
  /** The error code of a failed change. It is empty for all other changes. */
  fault: Type.String(),
})
export type PlannedChange = RowOf<typeof plannedChange>

/**
 * Lists scheduled price changes. Pending changes come first, in the order in which they are due.
 * They are followed by the other changes, newest first.
 */
export async function plannedChanges(
  db: CommonQueryMethods,
  { limit, offset }: Slice,
): Promise<Listed<PlannedChange>> {
  const rows = await db.any(sql.type(plannedChange)`
    select p.id, p.due_at as "dueAt", p.made_at as "madeAt",
      coalesce(u.username, '') as username, p.changes, p.status, p.ended_at as "endedAt", p.fault
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
