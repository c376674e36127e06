import { assert } from '../shared/assert.ts'
import type { Decider } from '../shared/decider.ts'
import { refuse } from '../shared/refusal.ts'
import { isSame } from '../shared/same.ts'
import { faultyField, proxyOf } from './check-terms.ts'
import type { ChangeTerms, ChannelCommand, CreateChannel } from './commands.ts'
import type { ChannelEvent, ChannelTerms } from './events.ts'
import type { ChannelRefusal } from './refusals.ts'
import { type ChannelState, initialChannel, type KnownChannel } from './state.ts'

type Outcome = readonly ChannelEvent[] | ChannelRefusal

export const channelDecider: Decider<ChannelState, ChannelCommand, ChannelEvent, ChannelRefusal> = {
  initialState: initialChannel,
  decide: (command, { channel }) => {
    if (command.type === 'CreateChannel') return create(command, channel)
    if (channel === null || channel.isDeleted) return refuse('ChannelUnknown')
    return change(command, channel)
  },
  evolve: evolveChannel,
}

function create(command: CreateChannel, channel: KnownChannel | null): Outcome {
  const { channelId, keyRef } = command
  if (channel !== null) return channel.keyRef === keyRef ? [] : refuse('ChannelExists')
  const terms = tidied(command.terms)
  const refusal = refusalOf(terms)
  if (refusal !== null) return refusal
  if (keyRef === '') return refuse('KeyRequired')
  return [{ type: 'ChannelCreated', v: 1, data: { channelId, terms, keyRef } }]
}

function change(command: Exclude<ChannelCommand, CreateChannel>, channel: KnownChannel): Outcome {
  const { channelId, status } = channel
  switch (command.type) {
    case 'ChangeTerms':
      return changeTerms(command, channel)
    case 'EnableChannel':
      return status === 'enabled' ? [] : [{ type: 'ChannelEnabled', v: 1, data: { channelId } }]
    case 'DisableChannel':
      return status === 'disabled' ? [] : [{ type: 'ChannelDisabled', v: 1, data: { channelId } }]
    case 'AutoDisableChannel': {
      if (status !== 'enabled' || !channel.terms.isAutoBan) return []
      const { reason } = command
      return [{ type: 'ChannelAutoDisabled', v: 1, data: { channelId, reason } }]
    }
    case 'DeleteChannel':
      return [{ type: 'ChannelDeleted', v: 1, data: { channelId } }]
  }
}

/** A key goes only where it was given for: a new address, kind or proxy needs it again. */
function changeTerms(command: ChangeTerms, channel: KnownChannel): Outcome {
  const { channelId } = channel
  const terms = tidied(command.terms)
  const refusal = refusalOf(terms)
  if (refusal !== null) return refusal
  const keyRef = command.keyRef ?? channel.keyRef
  if (keyRef === '') return refuse('KeyRequired')
  const isKeyKept = keyRef === channel.keyRef
  if (isKeyKept && !hasSameTarget(terms, channel.terms)) return refuse('KeyRequired')
  if (isKeyKept && isSame(terms, channel.terms)) return []
  return [{ type: 'ChannelTermsChanged', v: 1, data: { channelId, terms, keyRef } }]
}

const hasSameTarget = (terms: ChannelTerms, before: ChannelTerms): boolean =>
  terms.type === before.type &&
  terms.baseUrl === before.baseUrl &&
  proxyOf(terms) === proxyOf(before)

const tidied = (terms: ChannelTerms): ChannelTerms => ({
  ...terms,
  baseUrl: terms.baseUrl.trim().replace(/\/+$/, ''),
})

function refusalOf(terms: ChannelTerms): ChannelRefusal | null {
  if (terms.name.trim() === '') return refuse('NameRequired')
  if (terms.models.length === 0) return refuse('ModelsRequired')
  const faulty = faultyField(terms)
  return faulty === null ? null : refuse('InvalidField', faulty)
}

function evolveChannel({ channel }: ChannelState, event: ChannelEvent): ChannelState {
  if (event.type === 'ChannelCreated') {
    return { channel: { ...event.data, status: 'enabled', isDeleted: false } }
  }
  assert(channel !== null, `${event.type} before ChannelCreated`)
  switch (event.type) {
    case 'ChannelTermsChanged':
      return { channel: { ...channel, terms: event.data.terms, keyRef: event.data.keyRef } }
    case 'ChannelEnabled':
      return { channel: { ...channel, status: 'enabled' } }
    case 'ChannelDisabled':
      return { channel: { ...channel, status: 'disabled' } }
    case 'ChannelAutoDisabled':
      return { channel: { ...channel, status: 'auto-disabled' } }
    case 'ChannelDeleted':
      return { channel: { ...channel, isDeleted: true } }
  }
}
