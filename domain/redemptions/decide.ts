import { assert } from '../shared/assert.ts'
import { REDEMPTION_NAME_MAX } from '../shared/check-characters.ts'
import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider, SnapshotCodec } from '../shared/decider.ts'
import { isSame } from '../shared/deep-equal.ts'
import { isInRange, type Quota, toWire } from '../shared/quota.ts'
import type {
  RedemptionCreated,
  RedemptionEvent,
  RedemptionIdsTaken,
  RedemptionRequest,
  RedemptionTerms,
} from './events.ts'

export type RedemptionRecord = {
  readonly id: number
  readonly keyRef: string
  readonly terms: RedemptionTerms
  readonly isDisabled: boolean
  readonly userIds: Set<number>
}

/**
 * The state of one key. `code` is null if no code has ever had the key, or if the code was deleted.
 */
export type RedemptionState = { code: RedemptionRecord | null }

const noRedemption = (): RedemptionState => ({ code: null })

/** Returns the status: 1 is unused, 2 disabled, 3 used. A gift never becomes used. */
const statusOf = ({ terms, isDisabled, userIds }: RedemptionRecord): 1 | 2 | 3 => {
  if (!terms.isGift && userIds.size > 0) return 3
  return isDisabled ? 2 : 1
}

/** Applies an event to `state` in place. */
function evolveRedemption(state: RedemptionState, event: RedemptionEvent): RedemptionState {
  if (event.type === 'RedemptionCreated') {
    const { redemptionId: id, keyRef, terms } = event.data
    state.code = { id, keyRef, terms, isDisabled: false, userIds: new Set() }
    return state
  }
  const { code } = state
  // Some stores cannot append to several streams atomically. In such a store, an event that
  // disables or deletes one of several codes may follow the deletion of its code. Such an event is
  // ignored.
  const isLate = event.type === 'RedemptionDeleted' || event.type === 'RedemptionDisabled'
  if (isLate && code?.id !== event.data.redemptionId) return state
  assert(code?.id === event.data.redemptionId, `${event.type} of a code that does not exist`)
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

const redemptionSnapshot: SnapshotCodec<RedemptionState> = {
  version: 1,
  encode: ({ code }): Stored => ({ code: code && { ...code, userIds: [...code.userIds] } }),
  decode: (stored) => {
    const { code } = stored as Stored
    return { code: code && { ...code, userIds: new Set(code.userIds) } }
  },
}

/** Creates a code. The same append assigns the code's id (see `AssignRedemptionIds`). */
type CreateRedemption = { readonly type: 'CreateRedemption' } & RedemptionCreated['data']

type RedemptionCommandOf<Type extends string> = {
  readonly type: Type
  readonly redemptionId: number
}

type ChangeRedemption = RedemptionCommandOf<'ChangeRedemption'> & {
  readonly terms: RedemptionTerms
}
type EnableRedemption = RedemptionCommandOf<'EnableRedemption'>

/**
 * Disables a code. If `isOneOfMany` is set, an unknown or used code is skipped, so that all other
 * selected codes are disabled.
 */
type DisableRedemption = RedemptionCommandOf<'DisableRedemption'> & {
  readonly isOneOfMany?: boolean
}

/**
 * Deletes a code. If `isOneOfMany` is set, an unknown code is skipped. If `onlyDisabled` is set, a
 * code that is not disabled is skipped.
 */
type DeleteRedemption = RedemptionCommandOf<'DeleteRedemption'> & {
  readonly isOneOfMany?: boolean
  readonly onlyDisabled?: boolean
}

/**
 * Redeems a code for a user. The same append credits `quota` to the account. The command is refused
 * if the key now belongs to another code, or if the code's quota has changed. `now` is in Unix
 * seconds.
 */
type RedeemCode = RedemptionCommandOf<'RedeemCode'> & {
  readonly userId: number
  readonly quota: Quota
  readonly now: number
}

export type RedemptionCommand =
  | CreateRedemption
  | ChangeRedemption
  | EnableRedemption
  | DisableRedemption
  | DeleteRedemption
  | RedeemCode

export type RedemptionErrorCode =
  /** The code does not exist. Only admins receive this error. Users receive `CodeInvalid`. */
  | 'RedemptionUnknown'
  /** The code does not exist or is disabled, or it is an ordinary code that was already used. */
  | 'CodeInvalid'
  | 'CodeNotYetValid'
  | 'CodeExpired'
  | 'CodeRedeemedAlready'
  | 'CodeUsedUp'
  /**
   * The code's quota has changed, or its key now belongs to another code. The user can try again.
   */
  | 'CodeChanged'
  | 'RedemptionKeyTaken'
  | 'RedemptionIdTaken'
  /** The codes already exist, because the same request was delivered before. */
  | 'RedemptionsMade'
  /** The `Idempotency-Key` of the request was used before, for a request with different content. */
  | 'RequestKeyReused'
  /** The code is disabled, or is an ordinary code that was used. A redeemed gift can be changed. */
  | 'RedemptionNotEditable'
  /** The code is used, so it cannot be enabled or disabled. */
  | 'RedemptionUsed'
  /** The name is empty or has more than 20 characters. */
  | 'RedemptionNameLength'
  | 'RedemptionQuotaTooSmall'
  /** The maximum number of uses is below 1 or below the number of uses so far. Params: `least`. */
  | 'MaxUsesTooFew'
  /** The gift was already redeemed, so it cannot become an ordinary code. */
  | 'GiftInUse'
  | 'ValidityOrder'

export type RedemptionError = CodedError<RedemptionErrorCode>

type Outcome = readonly RedemptionEvent[] | RedemptionError

export const redemptionDecider: Decider<
  RedemptionState,
  RedemptionCommand,
  RedemptionEvent,
  RedemptionError
> = {
  initialState: noRedemption,
  decide,
  evolve: evolveRedemption,
  snapshot: redemptionSnapshot,
}

function decide(command: RedemptionCommand, { code }: RedemptionState): Outcome {
  if (command.type === 'CreateRedemption') return create(command, code)
  if (command.type === 'RedeemCode') return redeem(command, code)
  const { redemptionId } = command
  const isOneOfMany = 'isOneOfMany' in command && command.isOneOfMany === true
  // A command for a deleted code must not affect a new code with the same key.
  if (code?.id !== redemptionId) return isOneOfMany ? [] : codedError('RedemptionUnknown')
  const data = { redemptionId }
  switch (command.type) {
    case 'ChangeRedemption':
      return change(command, code)
    case 'EnableRedemption':
      if (statusOf(code) === 3) return codedError('RedemptionUsed')
      return code.isDisabled ? [{ type: 'RedemptionEnabled', v: 1, data }] : []
    case 'DisableRedemption':
      if (statusOf(code) === 3) return isOneOfMany ? [] : codedError('RedemptionUsed')
      return code.isDisabled ? [] : [{ type: 'RedemptionDisabled', v: 1, data }]
    case 'DeleteRedemption':
      if (command.onlyDisabled === true && statusOf(code) !== 2) return []
      return [{ type: 'RedemptionDeleted', v: 1, data }]
  }
}

function create({ type, ...data }: CreateRedemption, code: RedemptionRecord | null): Outcome {
  if (code !== null) {
    const isDone = code.id === data.redemptionId && code.keyRef === data.keyRef
    return isDone ? [] : codedError('RedemptionKeyTaken')
  }
  return errorOfTerms(data.terms, 0) ?? [{ type: 'RedemptionCreated', v: 1, data }]
}

function change({ type, ...data }: ChangeRedemption, code: RedemptionRecord): Outcome {
  if (isSame(data.terms, code.terms)) return []
  if (statusOf(code) !== 1) return codedError('RedemptionNotEditable')
  const error = errorOfTerms(data.terms, code.userIds.size)
  return error ?? [{ type: 'RedemptionTermsChanged', v: 1, data }]
}

/**
 * Decides on a redemption. An ordinary code can be redeemed once, and a gift can be redeemed once
 * per user. The error is the same for an unknown code, a disabled code and a used ordinary code.
 */
function redeem(command: RedeemCode, code: RedemptionRecord | null): Outcome {
  const { redemptionId, userId, quota, now } = command
  if (code === null || statusOf(code) !== 1) return codedError('CodeInvalid')
  const { terms, userIds } = code
  if (userIds.has(userId)) return codedError('CodeRedeemedAlready')
  if (terms.maxUses !== null && userIds.size >= terms.maxUses) return codedError('CodeUsedUp')
  if (terms.validFrom !== null && now < terms.validFrom) return codedError('CodeNotYetValid')
  if (terms.validUntil !== null && now >= terms.validUntil) return codedError('CodeExpired')
  assert(quota > 0n, 'the quota of a code is positive')
  if (redemptionId !== code.id || quota !== BigInt(terms.quota)) return codedError('CodeChanged')
  const data = { redemptionId, userId, quota: toWire(quota), use: userIds.size + 1 }
  return [{ type: 'CodeRedeemed', v: 1, data }]
}

/**
 * Returns an error if the terms are invalid, otherwise null. `uses` is the number of times that the
 * code was redeemed.
 */
function errorOfTerms(terms: RedemptionTerms, uses: number): RedemptionError | null {
  const { name, quota, isGift, maxUses, validFrom, validUntil } = terms
  const characters = [...name.trim()].length
  if (characters === 0 || characters > REDEMPTION_NAME_MAX)
    return codedError('RedemptionNameLength')
  if (quota <= 0 || !isInRange(BigInt(quota))) return codedError('RedemptionQuotaTooSmall')
  if (!isGift && uses > 0) return codedError('GiftInUse')
  const usesMin = Math.max(1, uses)
  if (maxUses !== null && maxUses < usesMin) return codedError('MaxUsesTooFew', { least: usesMin })
  if (validFrom !== null && validUntil !== null && validFrom >= validUntil) {
    return codedError('ValidityOrder')
  }
  return null
}

/** Assigns `count` ids from `first`, which must be one above the highest assigned id. */
export type AssignRedemptionIds = {
  readonly type: 'AssignRedemptionIds'
  readonly first: number
  readonly count: number
  readonly request?: RedemptionRequest
}

/**
 * The highest assigned id, and the latest requests to create codes. `requests` maps the hash of a
 * request's `Idempotency-Key` to the hash of the request's content.
 */
export type RedemptionIdsState = { highest: number; readonly requests: Map<string, string> }

/**
 * The maximum number of remembered requests. If an older request is repeated, it fails, because the
 * keys of its codes are derived from the request and already exist.
 */
const REMEMBERED_REQUESTS_MAX = 500

type StoredIds = {
  readonly highest: number
  readonly requests: readonly (readonly [key: string, content: string])[]
}

/**
 * Assigns the ids of new codes. Of simultaneous commands, the first succeeds and the others receive
 * `RedemptionIdTaken`. The append that assigns the ids also creates the codes, so that no id is
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
    assert(
      Number.isSafeInteger(data.count) && data.count > 0,
      'the count of ids is a positive integer',
    )
    const { request } = data
    const earlierContent = request && requests.get(request.key)
    if (earlierContent !== undefined) {
      return codedError(
        earlierContent === request?.content ? 'RedemptionsMade' : 'RequestKeyReused',
      )
    }
    if (data.first !== highest + 1) return codedError('RedemptionIdTaken')
    return [{ type: 'RedemptionIdsTaken', v: 1, data }]
  },
  evolve: (state, { data: { first, count, request } }) => {
    state.highest = first + count - 1
    if (request === undefined) return state
    state.requests.set(request.key, request.content)
    const [oldest] = state.requests.keys()
    if (state.requests.size > REMEMBERED_REQUESTS_MAX && oldest !== undefined)
      state.requests.delete(oldest)
    return state
  },
  snapshot: {
    version: 2,
    encode: ({ highest, requests }): StoredIds => ({ highest, requests: [...requests] }),
    decode: (stored) => {
      const { highest, requests } = stored as StoredIds
      return { highest, requests: new Map(requests) }
    },
  },
}
