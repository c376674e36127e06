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
 * Changes the balance to `balance`, by granting or deducting the difference, once per
 * `adjustmentId`. The command is refused if the current balance is not `expected`. It is also
 * refused if `balance` is negative, unless this is the current balance.
 */
export type SetBalance = {
  readonly type: 'SetBalance'
  readonly userId: number
  readonly adjustmentId: string
  readonly balance: Quota
  /**
   * The balance that the admin saw. If `expected` is omitted, the current balance is not checked.
   */
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
 * Moves quota from the affiliate balance to the balance, once per `transferId`. `amount` must be at
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
 * Credits the reward of a daily check-in. The command is refused if `day` is not later than the day
 * of the last check-in. `amount` may be 0.
 */
export type CheckIn = {
  readonly type: 'CheckIn'
  readonly userId: number
  /** The UTC day as text: `2026-11-22`. */
  readonly day: string
  readonly amount: Quota
}

/**
 * Credits the quota of a paid order, or quota that is restored because a refund failed or a dispute
 * was won. Each order and each restoration is credited once.
 */
export type CreditTopUp = {
  readonly type: 'CreditTopUp'
  readonly userId: number
  readonly orderId: number
  readonly restoreNo?: number
  readonly provider: string
  readonly amount: Quota
}

/** Deducts the quota of a refunded order, once per refund. The balance may become negative. */
export type ReverseTopUp = {
  readonly type: 'ReverseTopUp'
  readonly userId: number
  readonly orderId: number
  readonly refundNo: number
  readonly provider: string
  readonly amount: Quota
  readonly note: Sealed
}

/**
 * Credits the inviter's share of an order to the affiliate balance, once per order and once per
 * restoration.
 */
export type EarnRebate = {
  readonly type: 'EarnRebate'
  readonly userId: number
  readonly orderId: number
  readonly restoreNo?: number
  readonly inviteeId: number
  readonly amount: Quota
}

/**
 * Deducts the inviter's share of a refunded order, once per refund. The share is deducted from the
 * affiliate balance first, and then from the balance.
 */
export type ReverseRebate = {
  readonly type: 'ReverseRebate'
  readonly userId: number
  readonly orderId: number
  readonly refundNo: number
  readonly amount: Quota
}

/**
 * Sets the budget of a token. An omitted value is not changed. If `expected` and `edits` are given,
 * `remain - expected` is added to the remaining quota, so that the charges of later calls are kept.
 * If the budget is lowered, the remaining quota is at most `remain` afterwards.
 */
export type SetTokenBudget = {
  readonly type: 'SetTokenBudget'
  readonly userId: number
  readonly tokenId: number
  /** The quota that the token may still spend, not counting the quota that its open calls hold. */
  readonly remain?: Quota
  /**
   * The remaining quota that the owner saw. If `edits` is omitted, the command is refused if the
   * token's remaining quota differs from `expected`.
   */
  readonly expected?: Quota
  /**
   * The number of edits of the budget that the owner saw. The command is refused if the budget was
   * edited after that.
   */
  readonly edits?: number
  readonly isUnlimited?: boolean
}

/** Sets the same budget for several new tokens. Each token may spend `remain`. */
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
  /**
   * The number `n` by which a price per call is multiplied. The default is 1, and the maximum is
   * 128.
   */
  readonly calls?: number
  readonly reasoningEffort?: string
  /** The time at which the call's lease ends, in unix milliseconds. */
  readonly leaseUntil: number
  readonly clientIp: Sealed | null
  /** The time at which the request arrived, in unix milliseconds. */
  readonly startedAt: number
  /**
   * Set if the call pays for a task. The call must be new, and the balance must be positive, even
   * if the hold is 0. The call is refused while the user has `openMax` open tasks.
   */
  readonly task?: { readonly openMax: number }
  /**
   * The smaller output limits that may be tried if the account cannot pay `hold`. If `reduction` is
   * omitted, the call is refused instead.
   */
  readonly reduction?: OutputReduction
}

/**
 * The output limits that may be tried if the account cannot pay the hold for the requested output.
 */
export type OutputReduction = {
  /** The maximum usage of the request as the caller sent it. `outputTokens` is per choice. */
  readonly bounds: CallBounds
  /** The lowest reduced output limit, in tokens per choice; at least 1. */
  readonly leastOutputTokens: number
  readonly mostOutputTokens: number
  /**
   * The number of times that the account must be able to pay the hold. If the account cannot, the
   * output limit is reduced. The default is 1.
   */
  readonly timesPayable?: bigint
}

/**
 * Raises the hold of a running call to the total `hold`. If the account cannot pay `hold`, the hold
 * is raised as far as the account can pay. The command is refused if that total is below `least`. A
 * hold that is already `hold` or more is not changed.
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
  /**
   * The provider's price as a multiple of the list price. The ratio is omitted if the price is
   * unknown.
   */
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
   * The provider's price when the call was sent, as a multiple of the list price. The ratio is
   * omitted if the price is unknown.
   */
  readonly costRatio?: DecimalText
  readonly upstreamModel: string | null
  readonly usage: Usage
  /**
   * Usage within these limits is always charged. Usage beyond these limits is charged only as far
   * as the hold and the free quota cover its price. If `limits` is omitted, the full `usage` is
   * charged.
   */
  readonly limits?: TokenLimits
  readonly usageSource: UsageSource
  readonly anomaly: string | null
  readonly end: CallEnd
  /** The error code. It is set if the gateway ended the call because the caller lost access. */
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
  /**
   * The end of the expired lease that the sweeper saw, in unix milliseconds. The command is refused
   * if the lease was renewed afterwards.
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
  /** The balance does not cover the amount. The error's `params` are `balance` and `needed`. */
  | 'InsufficientQuota'
  /**
   * The balance changed after the client had read it. The error's `params` are `balance` and
   * `expected`.
   */
  | 'BalanceMoved'
  /**
   * The affiliate balance does not cover the amount. The error's `params` are `balance` and
   * `needed`.
   */
  | 'InsufficientAffiliate'
  /**
   * The amount is below the minimum of a transfer. The error's `params` contain the minimum as
   * `least`.
   */
  | 'TransferTooSmall'
  | 'CheckedInAlready'
  | 'TokenBudgetExhausted'
  /**
   * The token's budget was edited after the client had read it. If the command has no `edits`, the
   * error means that the remaining quota is not `expected`. The error's `params` are `remain` and
   * `expected`.
   */
  | 'TokenBudgetMoved'
  | 'TokenBudgetUnknown'
  | 'CallUnknown'
  /** The call of a task must be new, but its id belongs to an open call. */
  | 'CallKnown'
  /**
   * The user already has the maximum number of open tasks. The error's `params` contain the maximum
   * as `max`.
   */
  | 'TooManyTasks'
  /** The call has ended, or its id is older than the ended calls that the account remembers. */
  | 'CallEnded'
  | 'LeaseNotOver'
  /** The amount is not positive although it must be, or an amount or a sum exceeds 2^53 − 1. */
  | 'AmountOutOfRange'

export type AccountError = CodedError<AccountErrorCode>
