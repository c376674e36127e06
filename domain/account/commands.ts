import type { CallBounds } from '../pricing/hold.ts'
import type { DecimalText, PriceSnapshot } from '../pricing/price.ts'
import type { TokenLimits, Usage, UsageSource } from '../pricing/usage.ts'
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

/** Grants quota once per `grantId`. A repeated command changes nothing. `amount` is above 0. */
export type GrantQuota = {
  readonly type: 'GrantQuota'
  readonly userId: number
  readonly grantId: string
  readonly amount: Quota
  readonly reason: QuotaGranted['data']['reason']
  readonly note?: Sealed
}

/** Deducts quota once per `deductionId`. `amount` is above 0 and at most the balance. */
export type DeductQuota = {
  readonly type: 'DeductQuota'
  readonly userId: number
  readonly deductionId: string
  readonly amount: Quota
  readonly reason: QuotaDeducted['data']['reason']
  readonly note?: Sealed
}

/**
 * Sets the balance to `balance`, once per `adjustmentId`: the difference is granted or deducted.
 * The command is refused if the current balance is not `expected`. A negative `balance` is accepted
 * only if it equals the current balance, which changes nothing.
 */
export type SetBalance = {
  readonly type: 'SetBalance'
  readonly userId: number
  readonly adjustmentId: string
  readonly balance: Quota
  /** The balance that the admin has seen. If it is omitted, the current balance is not checked. */
  readonly expected?: Quota
  readonly note?: Sealed
}

/** Adds `reward` to the inviter's affiliate balance, once per `inviteeId`. `reward` may be 0. */
export type RewardInvite = {
  readonly type: 'RewardInvite'
  readonly userId: number
  readonly inviteeId: number
  readonly reward: Quota
}

/**
 * Moves quota from the affiliate balance to the balance, once per `transferId`. `amount` is at
 * least `least` and at most the affiliate balance.
 */
export type TransferAffiliate = {
  readonly type: 'TransferAffiliate'
  readonly userId: number
  readonly transferId: string
  readonly amount: Quota
  readonly least: Quota
}

/**
 * Credits the reward of a daily check-in. A day that is not later than the day of the last check-in
 * is refused. `amount` may be 0.
 */
export type CheckIn = {
  readonly type: 'CheckIn'
  readonly userId: number
  /** The UTC day as text: `2026-11-22`. */
  readonly day: string
  readonly amount: Quota
}

/** Credits quota that was paid or restored. Each order and each restoration is credited once. */
export type CreditTopUp = {
  readonly type: 'CreditTopUp'
  readonly userId: number
  readonly orderId: number
  readonly restoreNo?: number
  readonly provider: string
  readonly amount: Quota
}

/** Deducts refunded quota once per refund. The balance may become negative. */
export type ReverseTopUp = {
  readonly type: 'ReverseTopUp'
  readonly userId: number
  readonly orderId: number
  readonly refundNo: number
  readonly provider: string
  readonly amount: Quota
  readonly note: Sealed
}

/** Credits the inviter's share to the affiliate balance once per order and once per restoration. */
export type EarnRebate = {
  readonly type: 'EarnRebate'
  readonly userId: number
  readonly orderId: number
  readonly restoreNo?: number
  readonly inviteeId: number
  readonly amount: Quota
}

/** Deducts the inviter's share once per refund, first from the affiliate balance. */
export type ReverseRebate = {
  readonly type: 'ReverseRebate'
  readonly userId: number
  readonly orderId: number
  readonly refundNo: number
  readonly amount: Quota
}

/**
 * Sets the budget of a token. A value that is omitted keeps what it is when the event is appended.
 * The command is refused if the current remaining quota is not `expected`.
 */
export type SetTokenBudget = {
  readonly type: 'SetTokenBudget'
  readonly userId: number
  readonly tokenId: number
  /** The quota that the token may spend, without the holds of its open calls. */
  readonly remain?: Quota
  /** The remaining quota that the owner has seen. If it is omitted, it is not checked. */
  readonly expected?: Quota
  readonly isUnlimited?: boolean
}

/** Sets the quota that each of several new tokens may spend. */
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
  /** The id of the caller's request, a UUID v7. */
  readonly call: string
  readonly tokenId: number
  readonly model: string
  readonly group: string
  readonly isStream: boolean
  readonly hold: Quota
  readonly price: PriceSnapshot
  /** The number of calls that a price per call multiplies (`n`): 1 if omitted, at most 128. */
  readonly calls?: number
  readonly reasoningEffort?: string
  /** The time at which the call's lease ends, in unix milliseconds. */
  readonly leaseUntil: number
  readonly clientIp: Sealed | null
  /** The time at which the request arrived, in unix milliseconds. */
  readonly startedAt: number
  /**
   * Set if the call pays for a task. Such a call must be new and needs a positive balance, even for
   * a hold of 0. It is refused while the user has `openMax` open tasks.
   */
  readonly task?: { readonly openMax: number }
  /**
   * The smaller output limits that are allowed if the account cannot pay the full hold. If
   * `reduction` is omitted, a call whose full hold cannot be paid is refused.
   */
  readonly reduction?: OutputReduction
}

/** The range of reduced output limits for a call whose full hold cannot be paid. */
export type OutputReduction = {
  /** The usage bounds that the full hold covers. `outputTokens` is per choice. */
  readonly bounds: CallBounds
  /** The lowest reduced output limit, in tokens per choice; at least 1. */
  readonly leastOutputTokens: number
  readonly mostOutputTokens: number
  /**
   * The full hold must be payable this many times, or else the limit is reduced; 1 if omitted.
   */
  readonly timesPayable?: bigint
}

/**
 * Raises the hold of a running call to `hold` in total. If the account cannot pay that much, the
 * total is as high as it can pay, but at least `least`. A hold of `hold` or more is not changed.
 */
export type RaiseHold = {
  readonly type: 'RaiseHold'
  readonly call: string
  readonly hold: Quota
  readonly least: Quota
}

/** Records the usage of a running call. `usage` is the total since the start of the call. */
export type RecordProgress = {
  readonly type: 'RecordProgress'
  readonly call: string
  readonly channelId: number
  /** The provider's price as a multiple of the list price. It is omitted if it is unknown. */
  readonly costRatio?: DecimalText
  readonly usage: Usage
  /** The time at which the renewed lease ends, in unix milliseconds. */
  readonly leaseUntil: number
}

/** Ends a call and charges it. The charge is computed from the usage and the price at admission. */
export type SettleCall = {
  readonly type: 'SettleCall'
  readonly call: string
  readonly channelId: number
  /**
   * The provider's price when the call was sent, as a multiple of the list price; omitted if
   * unknown.
   */
  readonly costRatio?: DecimalText
  readonly upstreamModel: string | null
  readonly usage: Usage
  /**
   * Usage within these limits is always charged. Usage beyond them is charged as far as the hold
   * and the free quota cover it. If `limits` is omitted, `usage` is charged in full.
   */
  readonly limits?: TokenLimits
  readonly usageSource: UsageSource
  readonly anomaly: string | null
  readonly end: CallEnd
  /** The error code if the gateway ended the call because the caller lost access. */
  readonly endReason?: string
  readonly attempts: readonly Attempt[]
  readonly timings: CallTimings
}

/** Ends a call without a charge. */
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

/** Ends a call whose owner process died. `at` is the current time in unix milliseconds. */
export type InterruptCall = {
  readonly type: 'InterruptCall'
  readonly call: string
  readonly at: number
  /** The expired lease. The command is refused if the lease has been renewed since. */
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
  /** The balance does not cover the amount. params: `balance`, `needed`. */
  | 'InsufficientQuota'
  /** The balance has changed since the client read it. params: `balance`, `expected`. */
  | 'BalanceMoved'
  /** The affiliate balance does not cover the amount. params: `balance`, `needed`. */
  | 'InsufficientAffiliate'
  /** The amount is below the smallest amount that can be transferred. params: `least`. */
  | 'TransferTooSmall'
  | 'CheckedInAlready'
  | 'TokenBudgetExhausted'
  /** The token's remaining quota has changed since it was read. params: `remain`, `expected`. */
  | 'TokenBudgetMoved'
  | 'TokenBudgetUnknown'
  | 'CallUnknown'
  /** The call of a task must be new, but a call with this id is open. */
  | 'CallKnown'
  /** The user has the maximum number of open tasks. params: `max`. */
  | 'TooManyTasks'
  /** The call has ended, or its id is older than the ended calls that the account remembers. */
  | 'CallEnded'
  | 'LeaseNotOver'
  /** The amount is not positive where required, or an amount or sum exceeds 2^53 − 1. */
  | 'AmountOutOfRange'

export type AccountError = CodedError<AccountErrorCode>
