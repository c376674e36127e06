import { assert } from '../shared/assert.ts'
import { type CodedError, codedError } from '../shared/coded-error.ts'
import {
  type ChannelEvent,
  type ChannelKeys,
  type ChannelsCreated,
  type ChannelTerms,
  termsOfNew,
} from './events.ts'

export type ChannelStatus = 'enabled' | 'disabled' | 'auto-disabled'

/** The state of one channel. A record is never changed in place but replaced by a changed copy. */
export type ChannelRecord = ChannelKeys & {
  readonly channelId: number
  readonly terms: ChannelTerms
  readonly status: ChannelStatus
  /**
   * The keys that are temporarily not used. A key is set aside only if another key of the channel
   * is still usable.
   */
  readonly setAside: readonly string[]
  /**
   * The pause of submissions that was started last. Omitted if the event
   * `ChannelSubmissionsResumed` has ended it.
   */
  readonly pause?: { readonly pause: string; readonly pausedAt: number }
}

/** The state of all channels. A deleted channel is removed, and its id is never assigned again. */
export type ChannelsState = {
  readonly channels: Map<number, ChannelRecord>
  highestId: number
}

export const initialChannels = (): ChannelsState => ({ channels: new Map(), highestId: 0 })

/** Applies an event to `state` in place. Changed channels are replaced by copies. */
export function evolveChannels(state: ChannelsState, event: ChannelEvent): ChannelsState {
  const { channels } = state
  switch (event.type) {
    case 'ChannelsCreated':
      for (const channel of createdBy(event)) {
        channels.set(channel.channelId, channel)
        state.highestId = Math.max(state.highestId, channel.channelId)
      }
      return state
    case 'ChannelsDeleted':
      for (const id of event.data.channelIds) channels.delete(id)
      return state
    case 'ChannelAbilitiesFixed':
      return state
    default:
      for (const id of idsOf(event)) {
        const channel = channels.get(id)
        assert(channel !== undefined, `${event.type} of channel ${id}, which does not exist`)
        channels.set(id, changedBy(event, channel))
      }
      return state
  }
}

/**
 * Returns a function that reverts the event by restoring the changed channels. Must be called
 * before the event is applied.
 */
export function undoChannels(state: ChannelsState, event: ChannelEvent): () => void {
  const { channels, highestId } = state
  const before = idsOf(event).map((id) => [id, channels.get(id)] as const)
  return () => {
    state.highestId = highestId
    for (const [id, channel] of before) {
      if (channel === undefined) channels.delete(id)
      else channels.set(id, channel)
    }
  }
}

const createdBy = ({ data }: Pick<ChannelsCreated, 'data'>): readonly ChannelRecord[] =>
  data.channels.map((channel) => ({
    channelId: channel.channelId,
    terms: termsOfNew(data.terms, channel),
    keyRefs: channel.keyRefs,
    keyMode: data.keyMode,
    status: data.isEnabled ? 'enabled' : 'disabled',
    setAside: [],
  }))

type Change = Exclude<
  ChannelEvent,
  { readonly type: 'ChannelsCreated' | 'ChannelsDeleted' | 'ChannelAbilitiesFixed' }
>

function changedBy(event: Change, channel: ChannelRecord): ChannelRecord {
  const { terms, setAside } = channel
  switch (event.type) {
    case 'ChannelTermsChanged': {
      const { terms, keyRefs, keyMode } = event.data
      const left = setAside.filter((ref) => keyRefs.includes(ref))
      return { ...channel, terms, keyRefs, keyMode, setAside: left }
    }
    case 'ChannelsEnabled':
      return { ...channel, status: 'enabled' }
    case 'ChannelsDisabled':
      return { ...channel, status: 'disabled' }
    case 'ChannelAutoDisabled':
      return { ...channel, status: 'auto-disabled' }
    case 'ChannelsTagged':
      return { ...channel, terms: { ...terms, tag: event.data.tag } }
    case 'TagTermsChanged':
      return { ...channel, terms: { ...terms, ...event.data.change } }
    case 'ChannelKeySetAside':
      return { ...channel, setAside: [...setAside, event.data.keyRef] }
    case 'ChannelSubmissionsPaused': {
      const { pause, pausedAt } = event.data
      return { ...channel, pause: { pause, pausedAt } }
    }
    case 'ChannelSubmissionsResumed': {
      const { pause: _, ...resumed } = channel
      return resumed
    }
    case 'ChannelKeysTakenBack': {
      const { keyRefs } = event.data
      return { ...channel, setAside: setAside.filter((ref) => !keyRefs.includes(ref)) }
    }
  }
}

export function idsOf({ data }: ChannelEvent): readonly number[] {
  if ('channelIds' in data) return data.channelIds
  if ('channelId' in data) return [data.channelId]
  return 'channels' in data ? data.channels.map(({ channelId }) => channelId) : []
}

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
  const tagged = [...channels.values()].filter(({ terms }) => terms.tag === tag)
  return tagged.length === 0 ? codedError('TagUnknown') : tagged
}
