import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import { z } from 'zod'
import { wireInteger } from '#infra/postgres/row-types.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint.ts'

const circuit = z.object({
  channelId: wireInteger,
  /** null: of the whole channel, or of all its keys. */
  model: z.string().nullable(),
  keyRef: z.string().nullable(),
  state: z.enum(['open', 'half-open']),
  /** A code: `connect`, `timeout`, `status-503`… */
  reason: z.string(),
  failures: wireInteger,
  round: wireInteger,
  /** Unix milliseconds, as `openedAt`. */
  until: wireInteger,
  openedAt: wireInteger,
  position: wireInteger,
})
export type CircuitRow = z.infer<typeof circuit>

const open = sql.fragment`
  select channel_id as "channelId", model, key_ref as "keyRef", state, reason, failures, round,
    until, opened_at as "openedAt", changed_position as position
  from read_channel_health.circuits where state <> 'closed' order by channel_id, scope
`

/** Every circuit that is not closed. */
export const openCircuits = (db: CommonQueryMethods): Promise<readonly CircuitRow[]> =>
  db.any(sql.type(circuit)`${open}`)

/** The same as of one position, for whoever folds on from there. */
export const relayCircuits = (db: DatabasePool): Promise<AtPosition<CircuitRow>> =>
  atCheckpoint(db, 'channel-health', openCircuits)
