import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { ChannelRecord } from './state.ts'

type Channels = ReadonlyMap<number, ChannelRecord>

export function unknownChannelError(
  channelIds: readonly number[],
  channels: Channels,
): CodedError<'ChannelUnknown'> | null {
  const id = channelIds.find((channelId) => !channels.has(channelId))
  return id === undefined ? null : codedError('ChannelUnknown', { id })
}

export function channelsOfTag(
  given: string,
  channels: Channels,
): readonly ChannelRecord[] | CodedError<'TagRequired' | 'TagUnknown'> {
  const tag = given.trim()
  if (tag === '') return codedError('TagRequired')
  const found = [...channels.values()].filter(({ terms }) => terms.tag === tag)
  return found.length === 0 ? codedError('TagUnknown') : found
}
