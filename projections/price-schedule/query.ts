import { type CommonQueryMethods, sql } from 'slonik'
import { z } from 'zod'
import { wireInteger } from '#infra/postgres/row-types.ts'
import type { Listed, Slice } from '../like.ts'

const plannedChange = z.object({
  id: wireInteger,
  /** Unix seconds, as the other times. */
  dueAt: wireInteger,
  madeAt: wireInteger,
  username: z.string(),
  changes: z.array(
    z.object({ option: z.string(), name: z.string(), value: z.string().nullable() }),
  ),
  status: z.enum(['planned', 'applied', 'cancelled', 'failed']),
  /** null while it waits. */
  endedAt: wireInteger.nullable(),
  /** Empty unless it failed. */
  fault: z.string(),
})
export type PlannedChange = z.infer<typeof plannedChange>

/** Those that wait, the next one first; then those that are over, the last one first. */
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
  const total = await db.oneFirst(sql.type(z.object({ total: wireInteger }))`
    select count(*) as total from read_price_schedule.planned
  `)
  return { rows, total }
}
