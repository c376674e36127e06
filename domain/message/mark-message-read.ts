import type { CodedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { MarkRead } from './decide.ts'
import type { MessageRead } from './events.ts'

export type InboxState = { readonly read: Set<number> }

/** The decider of a user's inbox, which records the messages that the user has read. */
export const inboxDecider: Decider<InboxState, MarkRead, MessageRead, CodedError<never>> = {
  initialState: () => ({ read: new Set() }),
  decide: ({ type: _type, ...data }, { read }) =>
    read.has(data.messageId) ? [] : [{ type: 'MessageRead', v: 1, data }],
  evolve: (state, { data }) => {
    state.read.add(data.messageId)
    return state
  },
  snapshot: {
    version: 1,
    encode: ({ read }) => [...read],
    decode: (stored) => ({ read: new Set(stored as number[]) }),
  },
}
