import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallInterrupted, CallSettled } from '#domain/account/events.ts'
import type { ChannelEvent } from '#domain/channel/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../seconds.ts'

/** The provider channels, and what was spent over each. */
export const channels = projectionOf<ChannelEvent | CallSettled | CallInterrupted>({
  name: 'channels',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { channels: { key: ['id'] }, spent: { key: ['channel_id'], isShared: true } },
  handlers: {
    ChannelCreated: ({ data, meta, position }, rows) =>
      rows.insert(
        'channels',
        { id: data.channelId },
        {
          terms: data.terms,
          key_ref: data.keyRef,
          status_at: secondsOf(meta.at),
          created_at: secondsOf(meta.at),
          changed_position: position,
        },
      ),
    ChannelTermsChanged: ({ data, position }, rows) =>
      rows.patch(
        'channels',
        { id: data.channelId },
        { terms: data.terms, key_ref: data.keyRef, changed_position: position },
      ),
    ChannelEnabled: (event, rows) => setStatus(event, rows, 1, ''),
    ChannelDisabled: (event, rows) => setStatus(event, rows, 2, ''),
    ChannelAutoDisabled: (event, rows) => setStatus(event, rows, 3, event.data.reason),
    ChannelDeleted: ({ data, position }, rows) =>
      rows.patch(
        'channels',
        { id: data.channelId },
        { is_deleted: true, changed_position: position },
      ),
    CallSettled: ({ data }, rows) => addSpent(data.channelId, data.charge, rows),
    CallInterrupted: ({ data }, rows) => addSpent(data.channelId, data.charge, rows),
  },
})

function setStatus(
  { data, meta, position }: Recorded<ChannelEvent>,
  rows: RowChanges,
  status: number,
  reason: string,
): void {
  rows.patch(
    'channels',
    { id: data.channelId },
    {
      status,
      status_reason: reason,
      status_at: secondsOf(meta.at),
      changed_position: position,
    },
  )
}

// NOTE: spending does not count as a change: it would send a channel's row with every call.
function addSpent(channelId: number | null, charge: number, rows: RowChanges): void {
  if (channelId === null || charge === 0) return
  rows.add('spent', { channel_id: channelId }, { used_quota: fromWire(charge) })
}
