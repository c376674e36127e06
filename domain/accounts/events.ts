import type { PriceSnapshot, ProviderCost } from '../pricing/price-snapshot.ts'
import type { Usage, UsageSource } from '../pricing/usage.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'
import type {
  Attempt,
  CallEnd,
  CallTimings,
  CorrectedCall,
  RequestChanges,
  Served,
} from './call-event-members.ts'

export type {
  Attempt,
  CallEnd,
  CallFormats,
  CallTimings,
  Digest,
  ProviderEvidence,
  RequestChanges,
  Served,
} from './call-event-members.ts'

/** Returns the name of the event stream of a user's account: balance, holds and token budgets. */
export const accountStream = (userId: number): string => `account-${userId}`

/**
 * One entry of a double-entry booking: a ledger account and the amount added to it. The ledger
 * accounts are `user:7:main`, `user:7:held`, `user:7:aff`, `revenue`, `promo`, `adjustment`,
 * `redemption` and `cash:<provider>`. The amounts of an event's postings sum to 0.
 */
export type Posting = readonly [account: string, amount: WireQuota]

/**
 * The members of an event that moves quota between ledger accounts. An event that changes the
 * balance or the held quota contains both resulting amounts. An owner can therefore check the
 * account without other events. Events of earlier versions lack these two amounts.
 */
export type Movement = {
  readonly postings: readonly Posting[]
  readonly balanceAfter?: WireQuota
  readonly heldAfter?: WireQuota
}

export type QuotaGranted = Fact<
  'QuotaGranted',
  {
    readonly userId: number
    /** The id of the grant. A second grant with the same id changes nothing. */
    readonly grantId: string
    readonly amount: WireQuota
    readonly reason: 'setup' | 'new-user' | 'invited' | 'admin' | 'redemption'
    /** The admin's reason, encrypted with the data key of the user who receives the quota. */
    readonly note?: Sealed
  } & Movement
>

export type QuotaDeducted = Fact<
  'QuotaDeducted',
  {
    readonly userId: number
    readonly deductionId: string
    readonly amount: WireQuota
    readonly reason: 'admin'
    readonly note?: Sealed
  } & Movement
>

/**
 * A new user registered with the invite code of the user `userId`. `reward` is added to the
 * affiliate balance of `userId`.
 */
export type InviteRewarded = Fact<
  'InviteRewarded',
  {
    readonly userId: number
    /** The id of the new user. The inviter is rewarded once per new user. */
    readonly inviteeId: number
    /** The reward, which may be 0. The invitation is counted even without a reward. */
    readonly reward: WireQuota
  } & Movement
>

/** The user moved quota from the affiliate balance to the balance. */
export type AffiliateTransferred = Fact<
  'AffiliateTransferred',
  {
    readonly userId: number
    /** The id of the transfer. A second transfer with the same id changes nothing. */
    readonly transferId: string
    readonly amount: WireQuota
  } & Movement
>

export type CheckedIn = Fact<
  'CheckedIn',
  {
    readonly userId: number
    /** The UTC day as text: `2026-11-22`. */
    readonly day: string
    readonly amount: WireQuota
  } & Movement
>

type OrderReference = { readonly userId: number; readonly orderId: number }

/** An order was paid, or quota was restored after a failed refund or a won dispute. */
export type TopUpCredited = Fact<
  'TopUpCredited',
  OrderReference & {
    /**
     * The number of the restoration within the order, starting at 1. It is omitted for a payment.
     */
    readonly restoreNo?: number
    /** The payment provider, such as `epay` or `stripe`. */
    readonly provider: string
    readonly amount: WireQuota
  } & Movement
>

/** The quota of a refunded payment was deducted. The balance may have become negative. */
export type TopUpReversed = Fact<
  'TopUpReversed',
  OrderReference & {
    readonly refundNo: number
    readonly provider: string
    readonly amount: WireQuota
    readonly note: Sealed
  } & Movement
>

/** The inviter got a share of an invitee's payment, or got the share back with a restoration. */
export type RebateEarned = Fact<
  'RebateEarned',
  OrderReference & {
    /**
     * The number of the restoration within the order, starting at 1. It is omitted for a payment.
     */
    readonly restoreNo?: number
    readonly inviteeId: number
    readonly amount: WireQuota
  } & Movement
>

/** The inviter's share of a refunded top-up was deducted. The balance may have become negative. */
export type RebateReversed = Fact<
  'RebateReversed',
  OrderReference & {
    readonly refundNo: number
    readonly amount: WireQuota
    /**
     * The part of `amount` that was deducted from the balance, because the affiliate balance was
     * too low.
     */
    readonly fromBalance?: WireQuota
  } & Movement
>

/** The token may spend `remain` more quota, or the entire balance if the token is unlimited. */
export type TokenBudgetSet = Fact<
  'TokenBudgetSet',
  {
    readonly userId: number
    readonly tokenId: number
    readonly remain: WireQuota
    readonly isUnlimited: boolean
    /**
     * Set if open calls may continue although `remain` is not positive. Either these calls hold the
     * entire budget that the owner set, or the owner raised an overspent budget.
     */
    readonly keepsCalls?: true
  }
>

/** The same budget was set for several tokens that were created together. */
export type TokenBudgetsOpened = Fact<
  'TokenBudgetsOpened',
  {
    readonly userId: number
    readonly tokenIds: readonly number[]
    readonly remain: WireQuota
    readonly isUnlimited: boolean
  }
>

export type TokenBudgetsClosed = Fact<
  'TokenBudgetsClosed',
  { readonly userId: number; readonly tokenIds: readonly number[] }
>

/** The budget of one deleted token was closed. Only earlier versions wrote this event. */
export type TokenBudgetClosed = Fact<
  'TokenBudgetClosed',
  { readonly userId: number; readonly tokenId: number }
>

/** The facts about a call that its events repeat. `call` is the id of the request, a UUID v7. */
export type CallFacts = {
  readonly call: string
  readonly userId: number
  readonly tokenId: number
  /**
   * The model name in the caller's request, which determines the price. In the event that ends a
   * call, it is the name of the model that served the call.
   */
  readonly model: string
  readonly group: string
  /** The model and group of the admission, if another model, group or price served the call. */
  readonly requested?: { readonly model: string; readonly group: string }
  readonly isStream: boolean
  /**
   * The number by which a price per call is multiplied: `n` of the caller's request, or in the end
   * of a call `n` of the provider's request, the images or the search units of a rerank. If it is
   * omitted, the number is 1 for a call with usage and 0 for a call without usage.
   */
  readonly calls?: number
  readonly reasoningEffort?: string
  /** The reduced output limit in tokens per choice. Omitted if the limit was not reduced. */
  readonly outputLimit?: number
  /** Set if the call pays for the lines of a batch that have the same model and price. */
  readonly batch?: CallBatch
}

/** The batch whose lines a call pays for, and the number of these lines. */
export type CallBatch = { readonly id: string; readonly lines: number }

export type CallAdmitted = Fact<
  'CallAdmitted',
  CallFacts & {
    readonly hold: WireQuota
    readonly price: PriceSnapshot
    /**
     * The time at which the lease ends, in Unix milliseconds. If the lease is not renewed, a
     * background job (the sweeper) ends the call.
     */
    readonly leaseUntil: number
    /** The time at which the request arrived, in Unix milliseconds. */
    readonly startedAt: number
    readonly clientIp: Sealed | null
    /** Set if the call pays for a task. The call and its task have the same id. */
    readonly isTask?: true
    /** Set if the call is a modal step: the open task of the same user that the step completes. */
    readonly stepOf?: string
  } & Movement
>

/** The usage of a long stream so far. It is charged if the process that serves the call dies. */
export type CallProgressed = Fact<
  'CallProgressed',
  Pick<ProviderCost, 'costRatio'> &
    Pick<RequestChanges & CallFacts, 'formats' | 'calls'> & {
      readonly call: string
      readonly userId: number
      readonly channelId: number
      readonly usage: Usage
      readonly served?: Served
      readonly leaseUntil: number
    }
>

/**
 * The hold of a running call was raised by `added` to `hold`, because the output may cost more than
 * the earlier hold.
 */
export type HoldRaised = Fact<
  'HoldRaised',
  {
    readonly call: string
    readonly userId: number
    readonly tokenId: number
    readonly hold: WireQuota
    readonly added: WireQuota
  } & Movement
>

export type CallSettled = Fact<
  'CallSettled',
  CallFacts &
    RequestChanges &
    ProviderCost & {
      readonly channelId: number
      /**
       * The model name sent to the provider, or null if it equals the name in the caller's request.
       */
      readonly upstreamModel: string | null
      readonly usage: Usage
      readonly usageSource: UsageSource
      /**
       * The code of an anomaly in the provider's response. Codes such as `negative` and `absurd`
       * mean impossible counts, which the gateway replaced or reduced. `other-model` means that
       * another model answered than was requested. `higher-cost` means that the provider reported a
       * much higher cost than the price list gives.
       */
      readonly anomaly: string | null
      /**
       * The full usage, if the account could not pay for all of it. `usage` is then the charged
       * part, and `cost` is the provider's charge for the full usage. In events of earlier
       * versions, `usage` is the part within the call's limits, and `cost` is for this part.
       */
      readonly unpaidUsage?: Usage
      /**
       * The number of charged lines of a batch. `usage` and `cost` are then sums over these lines.
       * `charge` plus `unpaid` is the sum of the lines' charges in the events of the batch.
       */
      readonly billedLines?: number
      /** The number of the charged lines whose usage the gateway counted. Omitted if it is 0. */
      readonly estimatedLines?: number
      /** The part of the charges for a batch's lines that the account could not pay. */
      readonly unpaid?: WireQuota
      readonly price: PriceSnapshot
      readonly hold: WireQuota
      readonly charge: WireQuota
      readonly end: CallEnd
      readonly endReason?: string
      readonly attempts: readonly Attempt[]
      readonly timings: CallTimings
      readonly clientIp: Sealed | null
    } & Movement
>

/**
 * The call ended without a charge, because no channel was available, all attempts failed, or
 * nothing was delivered.
 */
export type CallReleased = Fact<
  'CallReleased',
  CallFacts &
    RequestChanges & {
      readonly channelId: number | null
      readonly hold: WireQuota
      readonly reason: CallEnd | 'no-channel' | 'not-sent' | 'refused'
      readonly errorCode: string
      readonly statusCode: number
      readonly attempts: readonly Attempt[]
      readonly timings: CallTimings
      readonly clientIp: Sealed | null
    } & Movement
>

/**
 * The process that served the call died. A background job (the sweeper) ended the call and charged
 * the last recorded usage.
 */
export type CallInterrupted = Fact<
  'CallInterrupted',
  CallFacts &
    Pick<RequestChanges, 'formats'> &
    ProviderCost & {
      readonly channelId: number | null
      readonly usage: Usage
      readonly price: PriceSnapshot
      readonly hold: WireQuota
      readonly charge: WireQuota
      readonly startedAt: number
      readonly clientIp: Sealed | null
    } & Movement
>

/**
 * The charges of some calls were corrected, because another price should have been applied. The
 * events of the calls stay as they are.
 */
export type ChargeCorrected = Fact<
  'ChargeCorrected',
  {
    readonly userId: number
    readonly correctionId: string
    /** The number of the batch within the account, starting at 0. Each batch is applied once. */
    readonly batch: number
    readonly model: string
    readonly calls: readonly CorrectedCall[]
    /** The quota added to each token's budget, negative if deducted. Closed budgets are omitted. */
    readonly budgets: readonly (readonly [tokenId: number, amount: WireQuota])[]
    /** The additional charge to the account. It is negative for a refund. */
    readonly amount: WireQuota
  } & Movement
>

export type AccountEvent =
  | QuotaGranted
  | QuotaDeducted
  | InviteRewarded
  | AffiliateTransferred
  | CheckedIn
  | TopUpCredited
  | TopUpReversed
  | RebateEarned
  | RebateReversed
  | TokenBudgetSet
  | TokenBudgetsOpened
  | TokenBudgetsClosed
  | TokenBudgetClosed
  | CallAdmitted
  | CallProgressed
  | HoldRaised
  | CallSettled
  | CallReleased
  | CallInterrupted
  | ChargeCorrected
