import { assert } from '../shared/assert.ts'
import type { SnapshotCodec } from '../shared/decider.ts'
import type { RedemptionEvent, RedemptionTerms } from './events.ts'

export type RedemptionRecord = {
  readonly id: number
  readonly keyRef: string
  readonly terms: RedemptionTerms
  readonly isDisabled: boolean
  /** The users who have redeemed the code, each once. */
  readonly userIds: Set<number>
}

/** `code` is null where the key has no code, or none any more. */
export type RedemptionState = { code: RedemptionRecord | null }

export const noRedemption = (): RedemptionState => ({ code: null })

/** 1 is unused, 2 disabled, 3 used. A gift remains unused, however many users have redeemed it. */
export const statusOf = ({ terms, isDisabled, userIds }: RedemptionRecord): 1 | 2 | 3 => {
  if (!terms.isGift && userIds.size > 0) return 3
  return isDisabled ? 2 : 1
}

/** Changes `state` in place and returns it. */
export function evolveRedemption(state: RedemptionState, event: RedemptionEvent): RedemptionState {
  if (event.type === 'RedemptionCreated') {
    const { redemptionId: id, keyRef, terms } = event.data
    state.code = { id, keyRef, terms, isDisabled: false, userIds: new Set() }
    return state
  }
  const { code } = state
  // Where several streams cannot be appended to at once, an event of a batch may follow a deletion.
  const isLate = event.type === 'RedemptionDeleted' || event.type === 'RedemptionDisabled'
  if (isLate && code?.id !== event.data.redemptionId) return state
  assert(code?.id === event.data.redemptionId, `${event.type} of a code that is not there`)
  switch (event.type) {
    case 'RedemptionTermsChanged':
      state.code = { ...code, terms: event.data.terms }
      return state
    case 'RedemptionDisabled':
    case 'RedemptionEnabled':
      state.code = { ...code, isDisabled: event.type === 'RedemptionDisabled' }
      return state
    case 'RedemptionDeleted':
      state.code = null
      return state
    case 'CodeRedeemed':
      code.userIds.add(event.data.userId)
      return state
  }
}

type StoredCode = Omit<RedemptionRecord, 'userIds'> & { readonly userIds: readonly number[] }
type Stored = { readonly code: StoredCode | null }

/** An unlimited gift has as many entries here as users who have redeemed it. */
export const redemptionSnapshot: SnapshotCodec<RedemptionState> = {
  version: 1,
  encode: ({ code }): Stored => ({ code: code && { ...code, userIds: [...code.userIds] } }),
  decode: (stored) => {
    const { code } = stored as Stored
    return { code: code && { ...code, userIds: new Set(code.userIds) } }
  },
}
