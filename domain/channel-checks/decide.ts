import type { CodedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { ChannelChecksCommand, ChannelChecksEvent } from './events.ts'

/** The state is always empty, because no decision depends on an earlier check. */
export type ChannelChecks = Readonly<Record<string, never>>

const NOTHING: ChannelChecks = Object.freeze({})

export const channelChecksDecider: Decider<
  ChannelChecks,
  ChannelChecksCommand,
  ChannelChecksEvent,
  CodedError<never>
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
