import { isName } from '../shared/check-characters.ts'
import { codedError } from '../shared/coded-error.ts'
import { isSame } from '../shared/deep-equal.ts'
import type { ChangeTag, ChannelError, TagChannels } from './commands.ts'
import type { ChannelEvent, TagChange } from './events.ts'
import { channelsOfTag, unknownChannelError } from './find-channels.ts'
import type { ChannelRecord } from './state.ts'
import { termsError } from './validate-channel-fields.ts'

type Outcome = readonly ChannelEvent[] | ChannelError
type Channels = ReadonlyMap<number, ChannelRecord>

/** Sets or removes the tag of several channels, or of none if one of them is unknown. */
export function tagChannels(command: TagChannels, channels: Channels): Outcome {
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

/** Applies a change to all channels with the tag, or to none if it is invalid for one of them. */
export function changeTag(command: ChangeTag, channels: Channels): Outcome {
  const found = channelsOfTag(command.tag, channels)
  if ('code' in found) return found
  const change = tidiedChange(command.change)
  for (const { terms } of found) {
    const error = termsError({ ...terms, ...change })
    if (error !== null) return error
  }
  const channelIds = found
    .filter(({ terms }) => !isSame({ ...terms, ...change }, terms))
    .map(({ channelId }) => channelId)
  if (channelIds.length === 0) return []
  const tag = command.tag.trim()
  return [{ type: 'TagTermsChanged', v: 1, data: { tag, channelIds, change } }]
}

const tidiedChange = (change: TagChange): TagChange =>
  change.tag === undefined ? change : { ...change, tag: change.tag.trim() }
