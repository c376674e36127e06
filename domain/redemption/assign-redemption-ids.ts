import { assert } from '../shared/assert.ts'
import { codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { RedemptionError } from './decide.ts'
import type { RedemptionIdsTaken, RedemptionRequest } from './events.ts'

/** Assigns `count` ids from `first`, which must be one above the highest assigned id. */
export type AssignRedemptionIds = {
  readonly type: 'AssignRedemptionIds'
  readonly first: number
  readonly count: number
  readonly request?: RedemptionRequest
}

/** `requests` maps the hash of a request's key to the hash of its content. */
export type RedemptionIdsState = { highest: number; readonly requests: Map<string, string> }

/**
 * How many requests are remembered. A repeat of an older request is recognised by the keys of its
 * codes, which are derived from the request.
 */
const REQUESTS_KEPT = 500

type Stored = {
  readonly highest: number
  readonly requests: readonly (readonly [key: string, content: string])[]
}

/**
 * If commands are simultaneous, the first succeeds and the others receive `RedemptionIdTaken`. A
 * repeated request receives `RedemptionsMade`. The same append creates the codes, so that no id is
 * wasted.
 */
export const redemptionIdsDecider: Decider<
  RedemptionIdsState,
  AssignRedemptionIds,
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
