import { type CodedError, codedError, truncateNames } from '../shared/coded-error.ts'
import type { AutoDisableChannel, ChannelError, EnableChannels, EnableTag } from './commands.ts'
import type { ChannelEvent } from './events.ts'
import { type ChannelRecord, channelsOfTag, unknownChannelError } from './state.ts'

type Outcome = readonly ChannelEvent[] | ChannelError
type Channels = ReadonlyMap<number, ChannelRecord>
type Status = 'enabled' | 'disabled'

/** Enables several channels, or none if one of them is unknown or has expired. */
export function enable({ channelIds, now }: EnableChannels, channels: Channels): Outcome {
  const error = unknownChannelError(channelIds, channels) ?? expiredAmong(channelIds, now, channels)
  return error ?? changed(channelIds, 'enabled', null, channels)
}

export const disable = (channelIds: readonly number[], channels: Channels): Outcome =>
  unknownChannelError(channelIds, channels) ?? changed(channelIds, 'disabled', null, channels)

export function enableTag({ tag, now }: EnableTag, channels: Channels): Outcome {
  const tagged = channelsOfTag(tag, channels)
  if ('code' in tagged) return tagged
  const usable = tagged.filter(({ terms }) => !isExpired(terms.expiredTime, now))
  return changed(idsOf(usable), 'enabled', tag.trim(), channels)
}

export function disableTag(tag: string, channels: Channels): Outcome {
  const tagged = channelsOfTag(tag, channels)
  if ('code' in tagged) return tagged
  return changed(idsOf(tagged), 'disabled', tag.trim(), channels)
}

const idsOf = (some: readonly ChannelRecord[]): number[] => some.map(({ channelId }) => channelId)

/**
 * Returns an error if one of the channels has expired. For several channels, the error contains the
 * names of the expired channels.
 */
function expiredAmong(
  channelIds: readonly number[],
  now: number,
  channels: Channels,
): CodedError<'ChannelExpired'> | null {
  const selected = [...new Set(channelIds)]
  const names = selected.flatMap((id) => {
    const terms = channels.get(id)?.terms
    return terms !== undefined && isExpired(terms.expiredTime, now) ? [terms.name] : []
  })
  if (names.length === 0) return null
  return codedError('ChannelExpired', selected.length > 1 ? truncateNames(names) : undefined)
}

function changed(
  given: readonly number[],
  status: Status,
  tag: string | null,
  channels: Channels,
): readonly ChannelEvent[] {
  const channelIds = [...new Set(given)].filter((id) => channels.get(id)?.status !== status)
  if (channelIds.length === 0) return []
  const type = status === 'enabled' ? 'ChannelsEnabled' : 'ChannelsDisabled'
  return [{ type, v: 1, data: { channelIds, tag } }]
}

/**
 * Disables a failing channel that is enabled, if the terms of the channel allow automatic disabling
 * and other channels serve all of its models.
 */
export function autoDisable(
  { reason, substitutes }: Pick<AutoDisableChannel, 'reason' | 'substitutes'>,
  { channelId, status, terms }: ChannelRecord,
  channels: Channels,
): readonly ChannelEvent[] {
  if (status !== 'enabled' || !terms.isAutoBan) return []
  const isUsable = (id: number) => channels.get(id)?.status === 'enabled'
  if (!substitutes.every((ids) => ids.some(isUsable))) return []
  return [{ type: 'ChannelAutoDisabled', v: 1, data: { channelId, reason } }]
}

export function autoEnable({ channelId, status }: ChannelRecord): readonly ChannelEvent[] {
  if (status !== 'auto-disabled') return []
  return [{ type: 'ChannelsEnabled', v: 1, data: { channelIds: [channelId], tag: null } }]
}

export function deleteChannels(channelIds: readonly number[], channels: Channels): Outcome {
  const unknown = unknownChannelError(channelIds, channels)
  if (unknown === null) return deleted([...new Set(channelIds)])
  return channelIds.length > 1 ? unknown : codedError('ChannelUnknown')
}

export const deleteDisabled = (now: number, channels: Channels): readonly ChannelEvent[] =>
  deleted(
    [...channels.values()]
      .filter(({ status, terms }) => status !== 'enabled' || isExpired(terms.expiredTime, now))
      .map(({ channelId }) => channelId),
  )

/**
 * Reports whether a channel has expired. Both times are in Unix seconds. An `expiredTime` of -1
 * means that the channel never expires. Some clients send 0 instead of -1.
 */
export const isExpired = (expiredTime: number, now: number): boolean =>
  expiredTime > 0 && expiredTime <= now

const deleted = (channelIds: readonly number[]): readonly ChannelEvent[] =>
  channelIds.length === 0 ? [] : [{ type: 'ChannelsDeleted', v: 1, data: { channelIds } }]
