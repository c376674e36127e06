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

/** `grantId` makes it happen once, however often it is asked for. `amount` is above 0. */
export type GrantQuota = {
  readonly type: 'GrantQuota'
  readonly userId: number
  readonly grantId: string
  readonly amount: Quota
  readonly reason: QuotaGranted['data']['reason']
  readonly note?: Sealed
}

/** Once per `deductionId`. `amount` is above 0 and within the balance. */
export type DeductQuota = {
  readonly type: 'DeductQuota'
  readonly userId: number
  readonly deductionId: string
  readonly amount: Quota
  readonly reason: QuotaDeducted['data']['reason']
  readonly note?: Sealed
}

/**
 * Grants or deducts what the balance lacks of `balance`, once per `adjustmentId`; refused where the
 * balance is another than `expected`. `balance` is 0 or more, unless it is the balance already.
 */
export type SetBalance = {
  readonly type: 'SetBalance'
  readonly userId: number
  readonly adjustmentId: string
  readonly balance: Quota
  /** Left out: whatever the balance is. */
  readonly expected?: Quota
  readonly note?: Sealed
}

/** Once per `inviteeId`. `reward` may be 0. */
export type RewardInvite = {
  readonly type: 'RewardInvite'
  readonly userId: number
  readonly inviteeId: number
  readonly reward: Quota
}

/** Once per `transferId`. `amount` is at least `least` and within the affiliate balance. */
export type TransferAffiliate = {
  readonly type: 'TransferAffiliate'
  readonly userId: number
  readonly transferId: string
  readonly amount: Quota
  readonly least: Quota
}

/** Once per day, which only moves on. `amount` may be 0. */
export type CheckIn = {
  readonly type: 'CheckIn'
  readonly userId: number
  /** `2026-11-22`, UTC. */
  readonly day: string
  readonly amount: Quota
}

/** Once per order, and once per restoration of what a refund had taken. */
export type CreditTopUp = {
  readonly type: 'CreditTopUp'
  readonly userId: number
  readonly orderId: number
  readonly restoreNo?: number
  readonly provider: string
  readonly amount: Quota
}

/** Once per refund, whatever the balance is. */
export type ReverseTopUp = {
  readonly type: 'ReverseTopUp'
  readonly userId: number
  readonly orderId: number
  readonly refundNo: number
  readonly provider: string
  readonly amount: Quota
  readonly note: Sealed
}

/** Once per order and per restoration, on the inviter's account. */
export type EarnRebate = {
  readonly type: 'EarnRebate'
  readonly userId: number
  readonly orderId: number
  readonly restoreNo?: number
  readonly inviteeId: number
  readonly amount: Quota
}

/** Once per refund, whatever the affiliate balance is. */
export type ReverseRebate = {
  readonly type: 'ReverseRebate'
  readonly userId: number
  readonly orderId: number
  readonly refundNo: number
  readonly amount: Quota
}

/** What the token may spend from now on, besides what open calls already hold. */
export type SetTokenBudget = {
  readonly type: 'SetTokenBudget'
  readonly userId: number
  readonly tokenId: number
  readonly remain: Quota
  readonly isUnlimited: boolean
}

/** What each of these new tokens may spend. */
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
  /** The request id, a UUID v7. */
  readonly call: string
  readonly tokenId: number
  readonly model: string
  readonly group: string
  readonly isStream: boolean
  readonly hold: Quota
  readonly price: PriceSnapshot
  /** How many calls a price per call counts (`n`); 1 when left out, 128 at most. */
  readonly calls?: number
  readonly reasoningEffort?: string
  /** Unix milliseconds. */
  readonly leaseUntil: number
  readonly clientIp: Sealed | null
  /** Unix milliseconds of the request's arrival. */
  readonly startedAt: number
  /**
   * It pays for a task: it is never a repeat, needs some balance even for a hold of 0, and makes
   * `openMax` at most of the user's tasks that are open.
   */
  readonly task?: { readonly openMax: number }
  /** How the call may be admitted where its whole hold can't be paid; left out: not at all. */
  readonly reduction?: OutputReduction
}

/** A smaller output limit that the call can be sent with, so that its hold can be paid. */
export type OutputReduction = {
  /** What the whole hold covers; `outputTokens` is that of each choice. */
  readonly bounds: CallBounds
  /** The reduced limit lies within these; tokens of each choice, at least 1. */
  readonly leastOutputTokens: number
  readonly mostOutputTokens: number
}

/**
 * Holds up to `hold` in total for a running call, whatever part of it can be paid but at least
 * `least` in total. Changes nothing where that much is held already.
 */
export type RaiseHold = {
  readonly type: 'RaiseHold'
  readonly call: string
  readonly hold: Quota
  readonly least: Quota
}

/** `usage` is the total so far, not what was added. */
export type RecordProgress = {
  readonly type: 'RecordProgress'
  readonly call: string
  readonly channelId: number
  /** What the channel's provider charges; left out where nobody said. */
  readonly costRatio?: DecimalText
  readonly usage: Usage
  /** Unix milliseconds. */
  readonly leaseUntil: number
}

/** Ends the call; its charge is computed here, at the price it was admitted at. */
export type SettleCall = {
  readonly type: 'SettleCall'
  readonly call: string
  readonly channelId: number
  /** What the channel's provider charges, when the call was sent there; left out: unknown. */
  readonly costRatio?: DecimalText
  readonly upstreamModel: string | null
  readonly usage: Usage
  /**
   * The part of `usage` that the call's limits allow: charged instead of it where the hold and
   * what is free don't cover all of it. Left out: `usage` is charged in full, come what may.
   */
  readonly usageWithinLimits?: Usage
  readonly usageSource: UsageSource
  readonly anomaly: string | null
  readonly end: CallEnd
  /** A code, where the gateway ended the call because its caller may no longer call. */
  readonly endReason?: string
  readonly attempts: readonly Attempt[]
  readonly timings: CallTimings
}

/** Ends the call at no cost. */
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

/** Ends a call whose owner died. `at`: now, unix milliseconds. */
export type InterruptCall = {
  readonly type: 'InterruptCall'
  readonly call: string
  readonly at: number
  /** The lease that was seen to be over; refused when it was renewed since. */
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
  /** The balance does not cover it; params: `balance`, `needed`. */
  | 'InsufficientQuota'
  /** The balance is not the one that the change was made for; params: `balance`, `expected`. */
  | 'BalanceMoved'
  /** The affiliate balance does not cover it; params: `balance`, `needed`. */
  | 'InsufficientAffiliate'
  /** Below what may be transferred at once; params: `least`. */
  | 'TransferTooSmall'
  | 'CheckedInAlready'
  | 'TokenBudgetExhausted'
  | 'TokenBudgetUnknown'
  | 'CallUnknown'
  /** A task's call has to be new, and this one runs already. */
  | 'CallKnown'
  /** As many tasks as a user may have are open; params: `max`. */
  | 'TooManyTasks'
  /** The call is over, or its id is older than what is remembered of ended calls. */
  | 'CallEnded'
  | 'LeaseNotOver'
  /** Not above 0 where it must be, or beyond 2^53 − 1 alone or with what is there. */
  | 'AmountOutOfRange'

export type AccountError = CodedError<AccountErrorCode>
