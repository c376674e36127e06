import { assert } from '../shared/assert.ts'
import { isName } from '../shared/check-characters.ts'
import { codedError } from '../shared/coded-error.ts'
import type { Decider, SnapshotCodec } from '../shared/decider.ts'
import { isSame } from '../shared/deep-equal.ts'
import {
  autoDisable,
  autoEnable,
  deleteChannels,
  deleteDisabled,
  disable,
  disableTag,
  enable,
  enableTag,
} from './change-status-and-delete.ts'
import { changeTermsAndKeys } from './change-terms-and-keys.ts'
import type {
  ChangeTag,
  ChannelCommand,
  ChannelError,
  CreateChannels,
  TagChannels,
} from './commands.ts'
import type { ChannelEvent, TagChange } from './events.ts'
import { pauseSubmissions, resumeSubmissions } from './pause-submissions.ts'
import {
  type ChannelRecord,
  type ChannelsState,
  channelsOfTag,
  evolveChannels,
  initialChannels,
  undoChannels,
  unknownChannelError,
} from './state.ts'
import { normalizeTerms, termsError } from './validate-channel-fields.ts'
import { keysError, setKeyAside, takeBackKeys } from './validate-keys-and-set-aside-failed-keys.ts'

/** Creates all channels with one event. A repeated command changes nothing. */
function createChannels(
  command: CreateChannels,
  { channels: existing, highestId }: ChannelsState,
): readonly ChannelEvent[] | ChannelError {
  const { channels, keyMode, isEnabled } = command
  assert(channels.length > 0, 'no channels to create')
  const isRepeat = channels.every(({ channelId, keyRefs }) =>
    isSame(existing.get(channelId)?.keyRefs, keyRefs),
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
    case 'PauseSubmissions':
      return pauseSubmissions(command, channels)
    case 'ResumeSubmissions':
      return resumeSubmissions(command, channels)
    case 'FixAbilities':
      return [{ type: 'ChannelAbilitiesFixed', v: 1, data: { count: channels.size } }]
    default: {
      const channel = channels.get(command.channelId)
      if (channel === undefined) return codedError('ChannelUnknown')
      return decideOne(command, channel, channels)
    }
  }
}

type SingleChannelCommand = Extract<ChannelCommand, { readonly channelId: number }>

function decideOne(
  command: SingleChannelCommand,
  channel: ChannelRecord,
  channels: Channels,
): Outcome {
  switch (command.type) {
    case 'ChangeTerms':
      return changeTermsAndKeys(command, channel)
    case 'AutoDisableChannel':
      return autoDisable(command, channel, channels)
    case 'AutoEnableChannel':
      return autoEnable(channel)
    case 'SetKeyAside':
      return setKeyAside(command, channel, channels)
    case 'TakeBackKeys':
      return takeBackKeys(command, channel)
  }
}

type Channels = ReadonlyMap<number, ChannelRecord>

/** Sets or removes the tag of several channels, or of none if one of them is unknown. */
function tagChannels(command: TagChannels, channels: Channels): Outcome {
  const tag = command.tag?.trim() ?? ''
  if (tag === '' && command.tag !== null) return codedError('TagRequired')
  if (!isName(tag)) return codedError('InvalidField', { field: 'tag', error: 'bad-character' })
  const unknown = unknownChannelError(command.channelIds, channels)
  if (unknown !== null) return unknown
  const channelIds = [...new Set(command.channelIds)].filter(
    (id) => channels.get(id)?.terms.tag !== tag,
  )
  if (channelIds.length === 0) return []
  return [{ type: 'ChannelsTagged', v: 1, data: { channelIds, tag } }]
}

/**
 * Applies a change to all channels with the tag. If the change is invalid for one of these
 * channels, none is changed.
 */
function changeTag(command: ChangeTag, channels: Channels): Outcome {
  const tagged = channelsOfTag(command.tag, channels)
  if ('code' in tagged) return tagged
  const change = tidiedChange(command.change)
  for (const { terms } of tagged) {
    const error = termsError({ ...terms, ...change })
    if (error !== null) return error
  }
  const channelIds = tagged
    .filter(({ terms }) => !isSame({ ...terms, ...change }, terms))
    .map(({ channelId }) => channelId)
  if (channelIds.length === 0) return []
  const tag = command.tag.trim()
  return [{ type: 'TagTermsChanged', v: 1, data: { tag, channelIds, change } }]
}

const tidiedChange = (change: TagChange): TagChange =>
  change.tag === undefined ? change : { ...change, tag: change.tag.trim() }
