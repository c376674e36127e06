import type { Decider } from '../shared/decider.ts'
import type { Refusal } from '../shared/refusal.ts'
import type { ChannelChecksCommand, ChannelChecksEvent } from './events.ts'

/** Every check is a fact of its own: nothing before it matters. */
export type ChannelChecks = Readonly<Record<string, never>>

const NOTHING: ChannelChecks = Object.freeze({})

export const channelChecksDecider: Decider<
  ChannelChecks,
  ChannelChecksCommand,
  ChannelChecksEvent,
  Refusal<never>
> = {
  initialState: () => NOTHING,
  decide: ({ type, ...data }) => [
    'balance' in data
      ? { type: 'ChannelBalanceRead', v: 1, data }
      : { type: 'ChannelTested', v: 1, data },
  ],
  evolve: () => NOTHING,
  snapshot: { version: 1, encode: () => ({}), decode: () => NOTHING },
}
