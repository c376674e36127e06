import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChannelHealthEvent } from '#domain/channel-health/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { projectionOf } from '../projection.ts'

/** The circuits of channels, models and keys. The row of a closed circuit keeps its last values. */
export const channelHealth = projectionOf<ChannelHealthEvent>({
  name: 'channel-health',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { circuits: { key: ['channel_id', 'scope'] } },
  handlers: {
    CircuitOpened: (event, rows) => {
      const { reason, failures, round, until } = event.data
      const failureCells = { reason, failures, round, until, opened_at: event.meta.at }
      rows.put('circuits', keyOf(event), { ...cellsOf(event), ...failureCells, state: 'open' })
    },
    CircuitHalfOpened: (event, rows) => {
      const { until } = event.data
      rows.put('circuits', keyOf(event), { ...cellsOf(event), until, state: 'half-open' })
    },
    CircuitClosed: (event, rows) =>
      rows.put('circuits', keyOf(event), { ...cellsOf(event), until: 0, state: 'closed' }),
  },
})

/**
 * Returns the primary key of a circuit's row. `keyRef` and `model` are combined into one text,
 * because the columns of a primary key must not be null.
 */
const keyOf = ({ data }: Recorded<ChannelHealthEvent>) => ({
  channel_id: data.channelId,
  scope: JSON.stringify([data.keyRef, data.model]),
})

const cellsOf = ({ data, meta, position }: Recorded<ChannelHealthEvent>) => ({
  model: data.model,
  key_ref: data.keyRef,
  changed_at: meta.at,
  changed_position: position,
})
