import type { CallBounds } from '../pricing/hold.ts'
import type { DecimalText, PriceSnapshot } from '../pricing/price.ts'
import type { Usage, UsageSource } from '../pricing/usage.ts'
import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { Quota } from '../shared/quota.ts'
import type {
  Attempt,
  CallEnd,
  CallReleased,
  CallTimings,
  QuotaDeducted,
  QuotaGranted,
} from './events.ts'

/** Grants quota once per `grantId`; repeats change nothing. `amount` is above 0. */
export type GrantQuota = {
  readonly type: 'GrantQuota'
  readonly userId: number
  readonly grantId: string
  readonly amount: Quota
  readonly reason: QuotaGranted['data']['reason']
  readonly note?: Sealed
}

/** Deducts quota once per `deductionId`. `amount` is above 0 and within the balance. */
export type DeductQuota = {
  readonly type: 'DeductQuota'
  readonly userId: number
  readonly deductionId: string
  readonly amount: Quota
  readonly reason: QuotaDeducted['data']['reason']
  readonly note?: Sealed
}

/**
 * Grants or deducts the difference to `balance`, once per `adjustmentId`. It is refused where the
 * current balance differs from `expected`. `balance` is 0 or more, unless it is the current
 * balance.
 */
export type SetBalance = {
  readonly type: 'SetBalance'
  readonly userId: number
  readonly adjustmentId: string
  readonly balance: Quota
  /** If omitted, the current balance is not checked. */
  readonly expected?: Quota
  readonly note?: Sealed
}

/** Rewards the inviter once per `inviteeId`. `reward` may be 0. */
export type RewardInvite = {
  readonly type: 'RewardInvite'
  readonly userId: number
  readonly inviteeId: number
  readonly reward: Quota
}

/**
 * Moves quota to the balance once per `transferId`. `amount` is at least `least` and within the
 * affiliate balance.
 */
export type TransferAffiliate = {
  readonly type: 'TransferAffiliate'
  readonly userId: number
  readonly transferId: string
  readonly amount: Quota
  readonly least: Quota
}

/**
 * Credits a check-in once per day; an earlier day than the last one is refused. `amount` may be 0.
 */
export type CheckIn = {
  readonly type: 'CheckIn'
  readonly userId: number
  /** The UTC day: `2026-11-22`. */
  readonly day: string
  readonly amount: Quota
}

/** Credits a paid order once, and once for each restoration of refunded quota. */
export type CreditTopUp = {
  readonly type: 'CreditTopUp'
  readonly userId: number
  readonly orderId: number
  readonly restoreNo?: number
  readonly provider: string
  readonly amount: Quota
}

/** Takes refunded quota back once per refund, whatever the balance is. */
export type ReverseTopUp = {
  readonly type: 'ReverseTopUp'
  readonly userId: number
  readonly orderId: number
  readonly refundNo: number
  readonly provider: string
  readonly amount: Quota
  readonly note: Sealed
}

/** Credits the inviter's share once per order and per restoration. */
export type EarnRebate = {
  readonly type: 'EarnRebate'
  readonly userId: number
  readonly orderId: number
  readonly restoreNo?: number
  readonly inviteeId: number
  readonly amount: Quota
}

/** Takes the inviter's share back once per refund, whatever the affiliate balance is. */
export type ReverseRebate = {
  readonly type: 'ReverseRebate'
  readonly userId: number
  readonly orderId: number
  readonly refundNo: number
  readonly amount: Quota
}

/** Sets the quota that the token may spend from now on, in addition to what its open calls hold. */
export type SetTokenBudget = {
  readonly type: 'SetTokenBudget'
  readonly userId: number
  readonly tokenId: number
  readonly remain: Quota
  readonly isUnlimited: boolean
}

/** Sets the quota that each of these new tokens may spend. */
export type OpenTokenBudgets = {
  readonly type: 'OpenTokenBudgets'
  readonly userId: number
  readonly tokenIds: readonly number[]
  readonly remain: Quota
  readonly isUnlimited: boolean
}

type CloseTokenBudgets = {
  readonly type: 'CloseTokenBudgets'
  readonly userId: number
  readonly tokenIds: readonly number[]
}

export type AdmitCall = {
  readonly type: 'AdmitCall'
  readonly userId: number
  /** The id of the request, a UUID v7. */
  readonly call: string
  readonly tokenId: number
  readonly model: string
  readonly group: string
  readonly isStream: boolean
  readonly hold: Quota
  readonly price: PriceSnapshot
  /** How many calls a price per call counts (`n`): 1 if omitted, at most 128. */
  readonly calls?: number
  readonly reasoningEffort?: string
  /** Unix milliseconds. */
  readonly leaseUntil: number
  readonly clientIp: Sealed | null
  /** The arrival of the request in unix milliseconds. */
  readonly startedAt: number
  /**
   * Set for the call of a task. Such a call must be new, needs a positive balance even for a hold
   * of 0, and is refused while the user has `openMax` open tasks.
   */
  readonly task?: { readonly openMax: number }
  /**
   * How the call may be admitted where its whole hold cannot be paid. If omitted, it is then
   * refused.
   */
  readonly reduction?: OutputReduction
}

/** A smaller output limit that the call can be sent with, so that its hold can be paid. */
export type OutputReduction = {
  /** The bounds that the whole hold covers; `outputTokens` is per choice. */
  readonly bounds: CallBounds
  /** The range of the reduced limit, in tokens of each choice; at least 1. */
  readonly leastOutputTokens: number
  readonly mostOutputTokens: number
}

/**
 * Raises the hold of a running call to at most `hold` in total, as far as it can be paid, but to at
 * least `least`. Changes nothing where that much is held already.
 */
export type RaiseHold = {
  readonly type: 'RaiseHold'
  readonly call: string
  readonly hold: Quota
  readonly least: Quota
}

/** `usage` is the total so far, not the difference to the last progress. */
export type RecordProgress = {
  readonly type: 'RecordProgress'
  readonly call: string
  readonly channelId: number
  /** The provider's price as a multiple of the list price; omitted where it is unknown. */
  readonly costRatio?: DecimalText
  readonly usage: Usage
  /** Unix milliseconds. */
  readonly leaseUntil: number
}

/** Ends the call. Its charge is computed from the usage and the price kept at admission. */
export type SettleCall = {
  readonly type: 'SettleCall'
  readonly call: string
  readonly channelId: number
  /**
   * The provider's price as a multiple of the list price when the call was sent; omitted where it
   * is unknown.
   */
  readonly costRatio?: DecimalText
  readonly upstreamModel: string | null
  readonly usage: Usage
  /**
   * The part of `usage` within the call's limits. It is charged in place of `usage` where the hold
   * and the free quota do not cover all of it. If omitted, `usage` is charged in full.
   */
  readonly usageWithinLimits?: Usage
  readonly usageSource: UsageSource
  readonly anomaly: string | null
  readonly end: CallEnd
  /** The error code where the gateway ended the call because its caller lost access. */
  readonly endReason?: string
  readonly attempts: readonly Attempt[]
  readonly timings: CallTimings
}

/** Ends the call without a charge. */
export type ReleaseCall = {
  readonly type: 'ReleaseCall'
  readonly call: string
  readonly channelId: number | null
  readonly reason: CallReleased['data']['reason']
  readonly errorCode: string
  readonly statusCode: number
  readonly attempts: readonly Attempt[]
  readonly timings: CallTimings
}

/** Ends a call whose owner died. `at` is the current time in unix milliseconds. */
export type InterruptCall = {
  readonly type: 'InterruptCall'
  readonly call: string
  readonly at: number
  /**
   * The expired lease that the sweeper found; the command is refused if the lease was renewed
   * since.
   */
  readonly leaseUntil?: number
}

export type AccountCommand =
  | GrantQuota
  | DeductQuota
  | SetBalance
  | RewardInvite
  | TransferAffiliate
  | CheckIn
  | CreditTopUp
  | ReverseTopUp
  | EarnRebate
  | ReverseRebate
  | SetTokenBudget
  | OpenTokenBudgets
  | CloseTokenBudgets
  | AdmitCall
  | RecordProgress
  | RaiseHold
  | SettleCall
  | ReleaseCall
  | InterruptCall

export type AccountErrorCode =
  /** The balance does not cover the amount; params: `balance`, `needed`. */
  | 'InsufficientQuota'
  /** The balance has changed since the caller read it; params: `balance`, `expected`. */
  | 'BalanceMoved'
  /** The affiliate balance does not cover the amount; params: `balance`, `needed`. */
  | 'InsufficientAffiliate'
  /** The amount is below the least that can be transferred; params: `least`. */
  | 'TransferTooSmall'
  | 'CheckedInAlready'
  | 'TokenBudgetExhausted'
  | 'TokenBudgetUnknown'
  | 'CallUnknown'
  /** The call of a task must be new, and a call with this id is open. */
  | 'CallKnown'
  /** The user has as many open tasks as allowed; params: `max`. */
  | 'TooManyTasks'
  /** The call has ended, or its id is older than the memory of ended calls. */
  | 'CallEnded'
  | 'LeaseNotOver'
  /** The amount is not above 0 where it must be, or it or the resulting sum exceeds 2^53 − 1. */
  | 'AmountOutOfRange'

export type AccountError = CodedError<AccountErrorCode>
