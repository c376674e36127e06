import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChannelTested } from '#domain/channel-checks/events.ts'
import type { ChannelHealthEvent, CircuitScope } from '#domain/channel-health/events.ts'
import { type ChannelEvent, termsOfNew } from '#domain/channels/events.ts'
import type { Fact, Recorded } from '#domain/shared/event.ts'
import { type Handler, projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'

/** The history of each channel. An event adds one row for each channel that it affects. */
export const channelTimeline = projectionOf<ChannelEvent | ChannelHealthEvent | ChannelTested>({
  name: 'channel-timeline',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { entries: { key: ['channel_id', 'position'], isAppendOnly: true } },
  handlers: {
    ChannelsCreated: (event, rows) => {
      const { channels, terms, isEnabled } = event.data
      for (const channel of channels) {
        const detail = { isEnabled, terms: termsOfNew(terms, channel) }
        add([channel.channelId], 'created', event, rows, detail)
      }
    },
    ChannelTermsChanged: (event, rows) => {
      const { channelId, terms, droppedKeyRefs } = event.data
      const detail = { terms, droppedKeys: droppedKeyRefs.length }
      add([channelId], 'terms-changed', event, rows, detail)
    },
    ChannelsEnabled: forSeveralChannels('enabled'),
    ChannelsDisabled: forSeveralChannels('disabled'),
    ChannelAutoDisabled: (event, rows) =>
      add([event.data.channelId], 'auto-disabled', event, rows, { reason: event.data.reason }),
    ChannelsDeleted: (event, rows) => add(event.data.channelIds, 'deleted', event, rows, {}),
    ChannelsTagged: (event, rows) => {
      const { channelIds, tag } = event.data
      add(channelIds, 'tagged', event, rows, { tag, change: { tag } })
    },
    TagTermsChanged: (event, rows) => {
      const { channelIds, tag, change } = event.data
      add(channelIds, 'tag-changed', event, rows, { tag, change })
    },
    ChannelKeySetAside: (event, rows) => {
      const { channelId, keyRef, reason } = event.data
      add([channelId], 'key-set-aside', event, rows, { keyRef, reason })
    },
    ChannelKeysTakenBack: (event, rows) => {
      const { channelId, keyRefs } = event.data
      add([channelId], 'keys-taken-back', event, rows, { count: keyRefs.length })
    },
    CircuitOpened: (event, rows) => {
      const { channelId, reason, failures, round, until } = event.data
      const detail = { ...scopeOf(event.data), reason, failures, round, until }
      add([channelId], 'circuit-opened', event, rows, detail)
    },
    CircuitHalfOpened: (event, rows) =>
      add([event.data.channelId], 'circuit-half-opened', event, rows, scopeOf(event.data)),
    CircuitClosed: (event, rows) => {
      const { channelId, reason } = event.data
      add([channelId], 'circuit-closed', event, rows, { ...scopeOf(event.data), reason })
    },
    ChannelTested: (event, rows) => {
      const { channelId, model, isSuccess, durationMs, reason } = event.data
      add([channelId], 'tested', event, rows, { model, isSuccess, durationMs, reason })
    },
  },
})

type ChangeOfSeveralChannels = Fact<
  string,
  { readonly channelIds: readonly number[]; readonly tag: string | null }
>

function forSeveralChannels(kind: string): Handler<ChangeOfSeveralChannels> {
  return (event, rows) => {
    const { channelIds, tag } = event.data
    add(channelIds, kind, event, rows, tag === null ? {} : { tag })
  }
}

function add(
  channelIds: readonly number[],
  kind: string,
  { meta, position }: Pick<Recorded, 'meta' | 'position'>,
  rows: RowChanges,
  detail: object,
): void {
  const { at, actor } = meta
  for (const channelId of channelIds) {
    rows.insert('entries', { channel_id: channelId, position }, { at, kind, actor, detail })
  }
}

const scopeOf = ({ model, keyRef }: CircuitScope) => ({ model, keyRef })
