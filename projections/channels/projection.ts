import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallInterrupted, CallSettled, ChargeCorrected } from '#domain/accounts/events.ts'
import {
  type ChannelEvent,
  type ChannelTerms,
  type TagChange,
  termsOfNew,
} from '#domain/channels/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { projectionOf } from '../projection.ts'
import type { Cells, RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'

/** The channels, and the quota charged through each of them. */
export const channels = projectionOf<
  ChannelEvent | CallSettled | CallInterrupted | ChargeCorrected
>({
  name: 'channels',
  version: 3,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    channels: { key: ['id'] },
    keys_set_aside: { key: ['channel_id', 'key_ref'] },
    spent: { key: ['channel_id'], isShared: true },
  },
  handlers: {
    ChannelsCreated: ({ data, meta, position }, rows) => {
      for (const channel of data.channels) {
        const cells = {
          ...termCells(termsOfNew(data.terms, channel)),
          key_refs: channel.keyRefs,
          key_mode: data.keyMode,
          status: data.isEnabled ? 1 : 2,
          status_at: secondsOf(meta.at),
          created_at: secondsOf(meta.at),
          changed_position: position,
        }
        rows.insert('channels', { id: channel.channelId }, cells)
      }
    },
    ChannelTermsChanged: (event, rows) => {
      const { channelId, terms, keyRefs, keyMode } = event.data
      const cells = { ...termCells(terms), key_refs: keyRefs, key_mode: keyMode }
      change([channelId], event, rows, cells)
    },
    ChannelsEnabled: (event, rows) => setStatus(event.data.channelIds, event, rows, 1),
    ChannelsDisabled: (event, rows) => setStatus(event.data.channelIds, event, rows, 2),
    ChannelAutoDisabled: (event, rows) =>
      setStatus([event.data.channelId], event, rows, 3, event.data.reason),
    ChannelsDeleted: (event, rows) =>
      change(event.data.channelIds, event, rows, { is_deleted: true }),
    ChannelsTagged: (event, rows) =>
      change(event.data.channelIds, event, rows, { tag: event.data.tag }),
    TagTermsChanged: (event, rows) =>
      change(event.data.channelIds, event, rows, tagCells(event.data.change)),
    ChannelKeySetAside: (event, rows) => {
      const { channelId, keyRef, reason } = event.data
      setKey(channelId, keyRef, event, rows, { is_set_aside: true, reason })
    },
    ChannelKeysTakenBack: (event, rows) => {
      for (const keyRef of event.data.keyRefs) {
        const cells = { is_set_aside: false, reason: '' }
        setKey(event.data.channelId, keyRef, event, rows, cells)
      }
    },
    CallSettled: ({ data }, rows) => addSpent(data.channelId, data.charge, rows),
    CallInterrupted: ({ data }, rows) => addSpent(data.channelId, data.charge, rows),
    ChargeCorrected: ({ data }, rows) => {
      for (const { channelId = null, charge, corrected } of data.calls) {
        addSpent(channelId, corrected - charge, rows)
      }
    },
  },
})

function change(
  channelIds: readonly number[],
  { position }: Recorded<ChannelEvent>,
  rows: RowChanges,
  cells: Cells,
): void {
  for (const id of channelIds) {
    rows.patch('channels', { id }, { ...cells, changed_position: position })
  }
}

function setStatus(
  channelIds: readonly number[],
  event: Recorded<ChannelEvent>,
  rows: RowChanges,
  status: number,
  reason = '',
): void {
  const cells = { status, status_reason: reason, status_at: secondsOf(event.meta.at) }
  change(channelIds, event, rows, cells)
}

function setKey(
  channelId: number,
  keyRef: string,
  event: Recorded<ChannelEvent>,
  rows: RowChanges,
  cells: Cells,
): void {
  const key = { channel_id: channelId, key_ref: keyRef }
  rows.put('keys_set_aside', key, { ...cells, set_aside_at: secondsOf(event.meta.at) })
  change([channelId], event, rows, {})
}

function tagCells({ modelMapping, ...others }: TagChange): Cells {
  return modelMapping === undefined ? others : { ...others, model_mapping: modelMapping }
}

// NOTE: a charge does not update `changed_position`. If it did, every call would send the channel's
// row to the consoles.
function addSpent(channelId: number | null, charge: number, rows: RowChanges): void {
  if (channelId === null || charge === 0) return
  rows.add('spent', { channel_id: channelId }, { used_quota: fromWire(charge) })
}

/**
 * Returns the columns for the terms of a channel. A field has a separate column if queries use it
 * or if it changes separately. All other fields are one JSON value.
 */
function termCells(terms: ChannelTerms): Cells {
  const { name, tag, models, groups, modelMapping, priority, weight, expiredTime, ...rest } = terms
  return {
    terms: rest,
    name,
    tag,
    models,
    groups,
    model_mapping: modelMapping,
    priority,
    weight,
    expired_at: expiredTime,
  }
}
