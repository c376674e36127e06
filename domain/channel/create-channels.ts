import { assert } from '../shared/assert.ts'
import { refuse } from '../shared/refusal.ts'
import { isSame } from '../shared/same.ts'
import { refusalOfTerms, tidied } from './check-terms.ts'
import type { CreateChannels } from './commands.ts'
import type { ChannelEvent } from './events.ts'
import { refusalOfKeys } from './keys.ts'
import type { ChannelRefusal } from './refusals.ts'
import type { ChannelsState } from './state.ts'

/** One event for all of them; the same command once more changes nothing. */
export function createChannels(
  command: CreateChannels,
  { channels: known, highestId }: ChannelsState,
): readonly ChannelEvent[] | ChannelRefusal {
  const { channels, keyMode, isEnabled } = command
  assert(channels.length > 0, 'no channels to create')
  const isRepeat = channels.every(({ channelId, keyRefs }) =>
    isSame(known.get(channelId)?.keyRefs, keyRefs),
  )
  if (isRepeat) return []
  let previous = highestId
  for (const { channelId } of channels) {
    if (channelId <= previous) return refuse('ChannelExists', { next: highestId + 1 })
    previous = channelId
  }
  const terms = tidied(command.terms)
  for (const { name, keyRefs } of channels) {
    const refusal = refusalOfTerms({ ...terms, name }) ?? refusalOfKeys(keyRefs, keyMode)
    if (refusal !== null) return refusal
  }
  return [{ type: 'ChannelsCreated', v: 1, data: { terms, channels, keyMode, isEnabled } }]
}
