import { assert } from '../shared/assert.ts'
import { codedError } from '../shared/coded-error.ts'
import type { Decider, SnapshotCodec } from '../shared/decider.ts'
import { isSame } from '../shared/deep-equal.ts'
import { changeChannelFields } from './change-channel-fields.ts'
import {
  autoDisable,
  autoEnable,
  deleteChannels,
  deleteDisabled,
  disable,
  disableTag,
  enable,
  enableTag,
} from './change-status.ts'
import { changeTag, tagChannels } from './change-tag.ts'
import { keysError, setKeyAside, takeBackKeys } from './channel-key-rules.ts'
import type { ChannelCommand, ChannelError, CreateChannels } from './commands.ts'
import type { ChannelEvent } from './events.ts'
import {
  type ChannelRecord,
  type ChannelsState,
  evolveChannels,
  initialChannels,
  undoChannels,
} from './state.ts'
import { normalizeTerms, termsError } from './validate-channel-fields.ts'

/** Creates all channels with one event. A repeated command changes nothing. */
function createChannels(
  command: CreateChannels,
  { channels: known, highestId }: ChannelsState,
): readonly ChannelEvent[] | ChannelError {
  const { channels, keyMode, isEnabled } = command
  assert(channels.length > 0, 'no channels to create')
  const isRepeat = channels.every(({ channelId, keyRefs }) =>
    isSame(known.get(channelId)?.keyRefs, keyRefs),
  )
  if (isRepeat) return []
  let previous = highestId
  for (const { channelId } of channels) {
    if (channelId <= previous) return codedError('ChannelExists', { next: highestId + 1 })
    previous = channelId
  }
  const terms = normalizeTerms(command.terms)
  for (const { name, keyRefs } of channels) {
    const error = termsError({ ...terms, name }) ?? keysError(keyRefs, keyMode)
    if (error !== null) return error
  }
  return [{ type: 'ChannelsCreated', v: 1, data: { terms, channels, keyMode, isEnabled } }]
}

type Stored = { readonly highestId: number; readonly channels: readonly ChannelRecord[] }

const channelsSnapshot: SnapshotCodec<ChannelsState> = {
  version: 1,
  encode: ({ highestId, channels }): Stored => ({ highestId, channels: [...channels.values()] }),
  decode: (stored) => {
    const { highestId, channels } = stored as Stored
    return { highestId, channels: new Map(channels.map((one) => [one.channelId, one])) }
  },
}

type Outcome = readonly ChannelEvent[] | ChannelError

export const channelsDecider: Decider<ChannelsState, ChannelCommand, ChannelEvent, ChannelError> = {
  initialState: initialChannels,
  decide,
  evolve: evolveChannels,
  undo: undoChannels,
  snapshot: channelsSnapshot,
}

function decide(command: ChannelCommand, state: ChannelsState): Outcome {
  const { channels } = state
  switch (command.type) {
    case 'CreateChannels':
      return createChannels(command, state)
    case 'EnableChannels':
      return enable(command, channels)
    case 'DisableChannels':
      return disable(command.channelIds, channels)
    case 'EnableTag':
      return enableTag(command, channels)
    case 'DisableTag':
      return disableTag(command.tag, channels)
    case 'DeleteChannels':
      return deleteChannels(command.channelIds, channels)
    case 'DeleteDisabledChannels':
      return deleteDisabled(command.now, channels)
    case 'TagChannels':
      return tagChannels(command, channels)
    case 'ChangeTag':
      return changeTag(command, channels)
    case 'FixAbilities':
      return [{ type: 'ChannelAbilitiesFixed', v: 1, data: { count: channels.size } }]
    default: {
      const channel = channels.get(command.channelId)
      return channel === undefined ? codedError('ChannelUnknown') : decideOne(command, channel)
    }
  }
}

type SingleChannelCommand = Extract<ChannelCommand, { readonly channelId: number }>

function decideOne(command: SingleChannelCommand, channel: ChannelRecord): Outcome {
  switch (command.type) {
    case 'ChangeTerms':
      return changeChannelFields(command, channel)
    case 'AutoDisableChannel':
      return autoDisable(command.reason, channel)
    case 'AutoEnableChannel':
      return autoEnable(channel)
    case 'SetKeyAside':
      return setKeyAside(command, channel)
    case 'TakeBackKeys':
      return takeBackKeys(command, channel)
  }
}
