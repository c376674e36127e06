import { assert } from '../shared/assert.ts'
import { codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { RedemptionError } from './decide.ts'
import type { RedemptionIdsTaken, RedemptionRequest } from './events.ts'

/** `first` is one above the highest that was taken, as the asker knows it. */
export type TakeRedemptionIds = {
  readonly type: 'TakeRedemptionIds'
  readonly first: number
  readonly count: number
  readonly request?: RedemptionRequest
}

/** Of each of the last requests, what it asked for. */
export type RedemptionIdsState = { highest: number; readonly requests: Map<string, string> }

/** Beyond them the keys themselves, which follow from the request, are found to be taken. */
const REQUESTS_KEPT = 500

type Stored = {
  readonly highest: number
  readonly requests: readonly (readonly [key: string, content: string])[]
}

/**
 * Gives out ids, dense and in order, to whoever asks first: `RedemptionIdTaken` for who comes too
 * late, `RedemptionsMade` for a request that has come before. Written in the same append as the
 * codes, so that no id is taken for nothing.
 */
export const redemptionIdsDecider: Decider<
  RedemptionIdsState,
  TakeRedemptionIds,
  RedemptionIdsTaken,
  RedemptionError
> = {
  initialState: () => ({ highest: 0, requests: new Map() }),
  decide: ({ type, ...data }, { highest, requests }) => {
    assert(Number.isSafeInteger(data.count) && data.count > 0, 'so many ids are none')
    const { request } = data
    const known = request && requests.get(request.key)
    if (known !== undefined) {
      return codedError(known === request?.content ? 'RedemptionsMade' : 'RequestKeyReused')
    }
    if (data.first !== highest + 1) return codedError('RedemptionIdTaken')
    return [{ type: 'RedemptionIdsTaken', v: 1, data }]
  },
  evolve: (state, { data: { first, count, request } }) => {
    state.highest = first + count - 1
    if (request === undefined) return state
    state.requests.set(request.key, request.content)
    const [oldest] = state.requests.keys()
    if (state.requests.size > REQUESTS_KEPT && oldest !== undefined) state.requests.delete(oldest)
    return state
  },
  snapshot: {
    version: 2,
    encode: ({ highest, requests }): Stored => ({ highest, requests: [...requests] }),
    decode: (stored) => {
      const { highest, requests } = stored as Stored
      return { highest, requests: new Map(requests) }
    },
  },
}
