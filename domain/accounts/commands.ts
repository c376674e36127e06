import type { DecimalText, PriceSnapshot } from '../pricing/price-snapshot.ts'
import type { Usage, UsageLimits, UsageSource } from '../pricing/usage.ts'
import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { Quota } from '../shared/quota.ts'
import type { HoldTerms, OutputReduction } from './affordable-terms.ts'
import type { CorrectedCallAttributes, SentRequest } from './call-event-members.ts'
import type {
  Attempt,
  CallBatch,
  CallEnd,
  CallReleased,
  CallTimings,
  QuotaDeducted,
  QuotaGranted,
  RequestChanges,
  Served,
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

/** Deducts quota once per `deductionId`. `amount` is above 0 and must not exceed the balance. */
export type DeductQuota = {
  readonly type: 'DeductQuota'
  readonly userId: number
  readonly deductionId: string
  readonly amount: Quota
  readonly reason: QuotaDeducted['data']['reason']
  readonly note?: Sealed
}

/** Sets the balance once per `adjustmentId`. A new balance below 0 is refused. */
export type SetBalance = {
  readonly type: 'SetBalance'
  readonly userId: number
  readonly adjustmentId: string
  readonly balance: Quota
  /** The balance that the admin saw. The command is refused if the current balance differs. */
  readonly expected?: Quota
  readonly note?: Sealed
}

/**
 * Adds `reward` to the inviter's affiliate balance, which contains quota earned by inviting users.
 * The reward for one `inviteeId` is added only once. `reward` may be 0.
 */
export type RewardInvite = {
  readonly type: 'RewardInvite'
  readonly userId: number
  readonly inviteeId: number
  readonly reward: Quota
}

/** Moves quota from the affiliate balance to the balance, once per `transferId`. */
export type TransferAffiliate = {
  readonly type: 'TransferAffiliate'
  readonly userId: number
  readonly transferId: string
  readonly amount: Quota
  readonly least: Quota
}

/** Credits a daily check-in, once per day. `amount` may be 0. */
export type CheckIn = {
  readonly type: 'CheckIn'
  readonly userId: number
  /** The UTC day as text: `2026-11-22`. */
  readonly day: string
  readonly amount: Quota
}

/**
 * Credits a paid order, or restores quota after a failed refund or a won dispute. Each payment and
 * each restoration is credited once.
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
 * Credits the inviter's share of a paid order, or credits it again after a failed refund or a won
 * dispute. Each payment and each restoration is credited once.
 */
export type EarnRebate = {
  readonly type: 'EarnRebate'
  readonly userId: number
  readonly orderId: number
  readonly restoreNo?: number
  readonly inviteeId: number
  readonly amount: Quota
}

/** Deducts the inviter's share of a refunded order, once per refund. */
export type ReverseRebate = {
  readonly type: 'ReverseRebate'
  readonly userId: number
  readonly orderId: number
  readonly refundNo: number
  readonly amount: Quota
}

/**
 * Sets a token's budget. Omitted values do not change. If `remain`, `expected` and `edits` are
 * given, the difference `remain` − `expected` is added to the current remaining quota. Charges that
 * were made after the owner read the budget therefore stay deducted.
 */
export type SetTokenBudget = {
  readonly type: 'SetTokenBudget'
  readonly userId: number
  readonly tokenId: number
  /** The quota that the token may still spend. Quota held for open calls is not included. */
  readonly remain?: Quota
  /**
   * The remaining quota that the owner saw. If `edits` is omitted, the command is refused when the
   * remaining quota has changed.
   */
  readonly expected?: Quota
  /**
   * The number of budget edits that the owner saw. If the number has changed, the command is
   * refused.
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
   * The parameter `n` of the request (1 to 128, by default 1). If the model has a price per call,
   * the charge is this price times `n`.
   */
  readonly calls?: number
  readonly reasoningEffort?: string
  /** The time at which the call's lease ends, in Unix milliseconds. */
  readonly leaseUntil: number
  readonly clientIp: Sealed | null
  /** The time at which the request arrived, in Unix milliseconds. */
  readonly startedAt: number
  /**
   * Set if the call pays for a task. A task requires a positive balance, even if its hold is 0. The
   * command is refused if the user already has `openMax` open tasks. If the call is a modal step,
   * `stepOf` is the open task that the step completes. The task's call, not the step's call, pays
   * for the result. Only one step of a task may be open.
   */
  readonly task?: { readonly openMax: number; readonly stepOf?: string }
  /**
   * Set if the call pays for lines of a batch. The command is refused if the user already has
   * `openMax` open calls for batches.
   */
  readonly batch?: CallBatch & { readonly openMax: number }
  readonly reduction?: OutputReduction | undefined
  /**
   * Other terms with which the call may be admitted if the account can't pay `hold`. Each has a
   * lower hold than the terms before it (see `withAffordableTerms`).
   */
  readonly cheaper?: readonly HoldTerms[] | undefined
  /**
   * True if the provider has already done the work that the call pays for. Such a call has a hold
   * of 0 and is admitted regardless of the balance and the token's budget. Only the relay sets this
   * field. No member of a caller's request can set it.
   */
  readonly isOwed?: boolean
}

/** Raises the total hold of a running call to `hold`. A hold is never lowered. */
export type RaiseHold = {
  readonly type: 'RaiseHold'
  readonly call: string
  readonly hold: Quota
  readonly least: Quota
}

/** Records the total usage of a running call since its start. */
export type RecordProgress = Pick<SentRequest, 'formats' | 'calls'> & {
  readonly type: 'RecordProgress'
  readonly call: string
  readonly channelId: number
  /**
   * The provider's price as a multiple of the list price. Omitted if the provider's price is
   * unknown.
   */
  readonly costRatio?: DecimalText
  readonly usage: Usage
  /** Set if the model or group that serves the call differs from that of the admission. */
  readonly served?: Served
  /** The time at which the renewed lease ends, in Unix milliseconds. */
  readonly leaseUntil: number
}

/**
 * Ends a call and charges its usage at the price that was recorded at the call's admission, or at
 * the price of `served`.
 */
export type SettleCall = SentRequest & {
  readonly type: 'SettleCall'
  readonly call: string
  readonly channelId: number
  /**
   * The provider's price at the time of the call, as a multiple of the list price. Omitted if the
   * provider's price is unknown.
   */
  readonly costRatio?: DecimalText
  readonly upstreamModel: string | null
  readonly usage: Usage
  /** Set if the model or group that served the call differs from that of the admission. */
  readonly served?: Served
  /**
   * Usage within these limits is always charged. Usage above the limits is charged only as far as
   * the account can pay.
   */
  readonly limits?: UsageLimits
  readonly usageSource: UsageSource
  readonly anomaly: string | null
  readonly end: CallEnd
  /** The error code, if the gateway ended the call because the caller lost access. */
  readonly endReason?: string
  /**
   * The number of charged lines of a batch and the sum of their charges. The account pays this sum,
   * but no more than the call's hold plus the quota that the token may still spend.
   */
  readonly billed?: {
    readonly lines: number
    readonly charge: Quota
    readonly cost?: Quota
    /** The number of lines whose usage the gateway counted. Omitted if it is 0. */
    readonly estimatedLines?: number
  }
  readonly attempts: readonly Attempt[]
  readonly timings: CallTimings
}

/** Ends a call without a charge. */
export type ReleaseCall = RequestChanges & {
  readonly type: 'ReleaseCall'
  readonly call: string
  readonly channelId: number | null
  readonly reason: CallReleased['data']['reason']
  readonly errorCode: string
  readonly statusCode: number
  readonly attempts: readonly Attempt[]
  readonly timings: CallTimings
}

/**
 * Ends a call whose owner (the process that served it) died. `at` is the current time in Unix
 * milliseconds.
 */
export type InterruptCall = {
  readonly type: 'InterruptCall'
  readonly call: string
  readonly at: number
  /**
   * The time at which the lease expired, in Unix milliseconds. The command is refused if the lease
   * was renewed.
   */
  readonly leaseUntil?: number
}

/**
 * Corrects the charges of ended calls. A correction is applied in numbered batches of calls, and a
 * repeated batch changes nothing. Refunds are given in full. Additional charges are taken only up
 * to the balance.
 */
export type CorrectCharges = {
  readonly type: 'CorrectCharges'
  readonly userId: number
  readonly correctionId: string
  readonly batch: number
  readonly model: string
  /** The calls with their charges before and after the correction. */
  readonly calls: readonly (CorrectedCallAttributes & {
    readonly call: string
    readonly tokenId: number
    readonly charge: Quota
    readonly corrected: Quota
  })[]
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
  | CorrectCharges

export type AccountErrorCode =
  /** The balance does not cover the amount. Params: `balance` and `needed`. */
  | 'InsufficientQuota'
  /** The balance changed after the client had read it. Params: `balance` and `expected`. */
  | 'BalanceMoved'
  /** The affiliate balance does not cover the amount. Params: `balance` and `needed`. */
  | 'InsufficientAffiliate'
  /** The amount is below the minimum of a transfer. Params: `least`. */
  | 'TransferTooSmall'
  | 'CheckedInAlready'
  | 'TokenBudgetExhausted'
  /** The token's budget changed after the client had read it. Params: `remain` and `expected`. */
  | 'TokenBudgetMoved'
  | 'TokenBudgetUnknown'
  | 'CallUnknown'
  /**
   * The new call pays for a task or a batch, but an open call already has the id of the new call.
   */
  | 'CallKnown'
  /** The user already has the maximum number of open tasks. Params: `max`. */
  | 'TooManyTasks'
  /**
   * A modal step of the task is open, or the task is itself a modal step. Params: `step`, the id of
   * the open step, or of the task if the task is itself a step.
   */
  | 'StepOpen'
  /**
   * The task that the modal step would complete has ended, so the task's call can't pay for the
   * result.
   */
  | 'StepTooLate'
  /** The user already has the maximum number of open batches. Params: `max`. */
  | 'TooManyBatches'
  /** The call has ended, or its id is older than all ended calls that the account remembers. */
  | 'CallEnded'
  | 'LeaseNotOver'
  /**
   * An amount is below its minimum, an amount or a sum exceeds the maximum of 2^53 − 1, or a debt
   * exceeds half of this maximum.
   */
  | 'AmountOutOfRange'

export type AccountError = CodedError<AccountErrorCode>
