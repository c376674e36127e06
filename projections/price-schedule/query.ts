import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { Listed, Slice } from '../list-queries.ts'

const plannedChange = rowType({
  id: wireInteger,
  /** When the change is due. All times are in unix seconds. */
  dueAt: wireInteger,
  madeAt: wireInteger,
  username: Type.String(),
  changes: Type.Array(
    Type.Object({ option: Type.String(), name: Type.String(), value: nullable(Type.String()) }),
  ),
  status: Type.Enum(['planned', 'applied', 'cancelled', 'failed']),
  /** When the change was applied, was cancelled or failed, or null. */
  endedAt: nullable(wireInteger),
  /** The error code of a failed change, or empty. */
  fault: Type.String(),
})
export type PlannedChange = RowOf<typeof plannedChange>

/** Lists pending changes by their due time, and then all others, newest first. */
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
