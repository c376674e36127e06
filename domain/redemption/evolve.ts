import { assert } from '../shared/assert.ts'
import type { SnapshotCodec } from '../shared/decider.ts'
import type { RedemptionEvent, RedemptionTerms } from './events.ts'

export type RedemptionRecord = {
  readonly id: number
  readonly keyRef: string
  readonly terms: RedemptionTerms
  readonly isDisabled: boolean
  readonly userIds: Set<number>
}

/** `code` is null if no code has ever had the key, or if the code was deleted. */
export type RedemptionState = { code: RedemptionRecord | null }

export const noRedemption = (): RedemptionState => ({ code: null })

/** 1 is unused, 2 disabled, 3 used. A gift never becomes used. */
export const statusOf = ({ terms, isDisabled, userIds }: RedemptionRecord): 1 | 2 | 3 => {
  if (!terms.isGift && userIds.size > 0) return 3
  return isDisabled ? 2 : 1
}

/** Applies an event to `state` in place. */
export function evolveRedemption(state: RedemptionState, event: RedemptionEvent): RedemptionState {
  if (event.type === 'RedemptionCreated') {
    const { redemptionId: id, keyRef, terms } = event.data
    state.code = { id, keyRef, terms, isDisabled: false, userIds: new Set() }
    return state
  }
  const { code } = state
  // A store without atomic appends to several streams may append an event of a batch after the
  // deletion of the code. Such an event is ignored.
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

export const redemptionSnapshot: SnapshotCodec<RedemptionState> = {
  version: 1,
  encode: ({ code }): Stored => ({ code: code && { ...code, userIds: [...code.userIds] } }),
  decode: (stored) => {
    const { code } = stored as Stored
    return { code: code && { ...code, userIds: new Set(code.userIds) } }
  },
}
