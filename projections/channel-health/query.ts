import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint.ts'

const circuit = rowType({
  channelId: wireInteger,
  /** null for the whole channel, or for all its keys. */
  model: nullable(Type.String()),
  keyRef: nullable(Type.String()),
  state: Type.Enum(['open', 'half-open']),
  /** An error code: `connect`, `timeout`, `status-503`… */
  reason: Type.String(),
  failures: wireInteger,
  round: wireInteger,
  /** Unix milliseconds, as is `openedAt`. */
  until: wireInteger,
  openedAt: wireInteger,
  position: wireInteger,
})
export type CircuitRow = RowOf<typeof circuit>

const open = sql.fragment`
  select channel_id as "channelId", model, key_ref as "keyRef", state, reason, failures, round,
    until, opened_at as "openedAt", changed_position as position
  from read_channel_health.circuits where state <> 'closed' order by channel_id, scope
`

/** Lists every circuit that is not closed. */
export const openCircuits = (db: CommonQueryMethods): Promise<readonly CircuitRow[]> =>
  db.any(sql.type(circuit)`${open}`)

/** Lists the same as of one position, for readers that apply later events themselves. */
export const relayCircuits = (db: DatabasePool): Promise<AtPosition<CircuitRow>> =>
  atCheckpoint(db, 'channel-health', openCircuits)
