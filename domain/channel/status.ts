import { refuse } from '../shared/refusal.ts'
import type { ChannelEvent } from './events.ts'
import type { ChannelRefusal } from './refusals.ts'
import { channelsOfTag, firstUnknown } from './several.ts'
import type { KnownChannel } from './state.ts'

type Outcome = readonly ChannelEvent[] | ChannelRefusal
type Channels = ReadonlyMap<number, KnownChannel>
type Status = 'enabled' | 'disabled'

/** All of them, or none where one is unknown; those that are so already are left out. */
export function setStatus(
  channelIds: readonly number[],
  status: Status,
  channels: Channels,
): Outcome {
  const unknown = firstUnknown(channelIds, channels)
  if (unknown !== null) return unknown
  return changed([...new Set(channelIds)], status, null, channels)
}

export function setTagStatus(tag: string, status: Status, channels: Channels): Outcome {
  const found = channelsOfTag(tag, channels)
  if ('refused' in found) return found
  return changed(
    found.map(({ channelId }) => channelId),
    status,
    tag.trim(),
    channels,
  )
}

function changed(
  given: readonly number[],
  status: Status,
  tag: string | null,
  channels: Channels,
): readonly ChannelEvent[] {
  const channelIds = given.filter((id) => channels.get(id)?.status !== status)
  if (channelIds.length === 0) return []
  const type = status === 'enabled' ? 'ChannelsEnabled' : 'ChannelsDisabled'
  return [{ type, v: 1, data: { channelIds, tag } }]
}

/** The gateway turns off only what is on, and where admins let it. */
export function autoDisable(
  reason: string,
  { channelId, status, terms }: KnownChannel,
): readonly ChannelEvent[] {
  if (status !== 'enabled' || !terms.isAutoBan) return []
  return [{ type: 'ChannelAutoDisabled', v: 1, data: { channelId, reason } }]
}

export function autoEnable({ channelId, status }: KnownChannel): readonly ChannelEvent[] {
  if (status !== 'auto-disabled') return []
  return [{ type: 'ChannelsEnabled', v: 1, data: { channelIds: [channelId], tag: null } }]
}

/** All of them, or none where one is unknown. */
export function deleteChannels(channelIds: readonly number[], channels: Channels): Outcome {
  const unknown = firstUnknown(channelIds, channels)
  if (unknown === null) return deleted([...new Set(channelIds)])
  return channelIds.length > 1 ? unknown : refuse('ChannelUnknown')
}

export const deleteDisabled = (now: number, channels: Channels): readonly ChannelEvent[] =>
  deleted(
    [...channels.values()]
      .filter(({ status, terms }) => status !== 'enabled' || isExpired(terms.expiredTime, now))
      .map(({ channelId }) => channelId),
  )

/** Both in unix seconds; -1 (and 0, as some callers say it) is never. */
export const isExpired = (expiredTime: number, now: number): boolean =>
  expiredTime > 0 && expiredTime <= now

const deleted = (channelIds: readonly number[]): readonly ChannelEvent[] =>
  channelIds.length === 0 ? [] : [{ type: 'ChannelsDeleted', v: 1, data: { channelIds } }]
