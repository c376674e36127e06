import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { type AtPosition, atCheckpoint } from '../checkpoint-table.ts'

const circuit = rowType({
  channelId: wireInteger,
  /** The model and the key to which the circuit applies. Null means all models or all keys. */
  model: nullable(Type.String()),
  keyRef: nullable(Type.String()),
  state: Type.Enum(['open', 'half-open']),
  /** An error code such as `connect`, `timeout` or `status-503`. */
  reason: Type.String(),
  failures: wireInteger,
  round: wireInteger,
  /**
   * The end of the pause of an open circuit, or of the probe of a half-open one. All times are in
   * Unix milliseconds.
   */
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

export const openCircuits = (db: CommonQueryMethods): Promise<readonly CircuitRow[]> =>
  db.any(sql.type(circuit)`${open}`)

/**
 * Lists open and half-open circuits, with the event position up to which they are current. The
 * reader must apply later events itself.
 */
export const relayCircuits = (db: DatabasePool): Promise<AtPosition<CircuitRow>> =>
  atCheckpoint(db, 'channel-health', openCircuits)
