import type { ChannelKeys, ChannelTerms } from './events.ts'

export type ChannelStatus = 'enabled' | 'disabled' | 'auto-disabled'

/** Never changed in place: another takes its place in the roster. */
export type KnownChannel = ChannelKeys & {
  readonly channelId: number
  readonly terms: ChannelTerms
  readonly status: ChannelStatus
  /** Some of its keys, never all. */
  readonly setAside: readonly string[]
}

/** Every channel there is. Deleted ones are gone, and their ids are not given out again. */
export type ChannelsState = {
  readonly channels: Map<number, KnownChannel>
  highestId: number
}

export const initialChannels = (): ChannelsState => ({ channels: new Map(), highestId: 0 })
