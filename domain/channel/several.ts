import { type Refusal, refuse } from '../shared/refusal.ts'
import type { KnownChannel } from './state.ts'

type Channels = ReadonlyMap<number, KnownChannel>

/** Names the first that is not there, or null. */
export function firstUnknown(
  channelIds: readonly number[],
  channels: Channels,
): Refusal<'ChannelUnknown'> | null {
  const id = channelIds.find((channelId) => !channels.has(channelId))
  return id === undefined ? null : refuse('ChannelUnknown', { id })
}

/** At least one, or why there is none. */
export function channelsOfTag(
  given: string,
  channels: Channels,
): readonly KnownChannel[] | Refusal<'TagRequired' | 'TagUnknown'> {
  const tag = given.trim()
  if (tag === '') return refuse('TagRequired')
  const found = [...channels.values()].filter(({ terms }) => terms.tag === tag)
  return found.length === 0 ? refuse('TagUnknown') : found
}
