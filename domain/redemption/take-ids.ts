import { assert } from '../shared/assert.ts'
import type { Decider } from '../shared/decider.ts'
import { refuse } from '../shared/refusal.ts'
import type { RedemptionIdsTaken } from './events.ts'
import type { RedemptionRefusal } from './refusals.ts'

/** `first` is one above the highest that was taken, as the asker knows it. */
export type TakeRedemptionIds = {
  readonly type: 'TakeRedemptionIds'
  readonly first: number
  readonly count: number
}

export type RedemptionIdsState = { readonly highest: number }

/**
 * Gives out ids, dense and in order, to whoever asks first: `RedemptionIdTaken` for who comes too
 * late. Written in the same append as the codes, so that no id is taken for nothing.
 */
export const redemptionIdsDecider: Decider<
  RedemptionIdsState,
  TakeRedemptionIds,
  RedemptionIdsTaken,
  RedemptionRefusal
> = {
  initialState: () => ({ highest: 0 }),
  decide: ({ type, ...data }, { highest }) => {
    assert(Number.isSafeInteger(data.count) && data.count > 0, 'so many ids are none')
    if (data.first !== highest + 1) return refuse('RedemptionIdTaken')
    return [{ type: 'RedemptionIdsTaken', v: 1, data }]
  },
  evolve: (_state, { data }) => ({ highest: data.first + data.count - 1 }),
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (stored) => stored as RedemptionIdsState,
  },
}
