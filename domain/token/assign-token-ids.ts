import { assert } from '../shared/assert.ts'
import { codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { TokenError } from './decide.ts'
import type { TokenIdsTaken } from './events.ts'

/** Assigns `count` ids from `first`, which must be one above the highest assigned id. */
export type AssignTokenIds = {
  readonly type: 'AssignTokenIds'
  readonly userId: number
  readonly first: number
  readonly count: number
}

export type TokenIdsState = { readonly highest: number }

/**
 * If commands are simultaneous, the first succeeds and the others receive `TokenExists`. The same
 * append creates the tokens, so that no id is wasted.
 */
export const tokenIdsDecider: Decider<TokenIdsState, AssignTokenIds, TokenIdsTaken, TokenError> = {
  initialState: () => ({ highest: 0 }),
  decide: ({ type, ...data }, { highest }) => {
    assert(Number.isSafeInteger(data.count) && data.count > 0, 'so many ids are none')
    if (data.first !== highest + 1) return codedError('TokenExists')
    return [{ type: 'TokenIdsTaken', v: 1, data }]
  },
  evolve: (_state, { data }) => ({ highest: data.first + data.count - 1 }),
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (stored) => stored as TokenIdsState,
  },
}
