import type { SnapshotCodec } from '../shared/decider.ts'
import type { ChannelsState, KnownChannel } from './state.ts'

type Stored = { readonly highestId: number; readonly channels: readonly KnownChannel[] }

export const channelsSnapshot: SnapshotCodec<ChannelsState> = {
  version: 1,
  encode: ({ highestId, channels }): Stored => ({ highestId, channels: [...channels.values()] }),
  decode: (stored) => {
    const { highestId, channels } = stored as Stored
    return { highestId, channels: new Map(channels.map((one) => [one.channelId, one])) }
  },
}
