import type { PriceSnapshot, ProviderCost } from '../pricing/price.ts'
import type { Usage, UsageSource } from '../pricing/usage.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** Returns the name of the stream that contains all events of a user's money. */
export const accountStream = (userId: number): string => `account-${userId}`

/**
 * One leg of a movement of quota: a ledger account and the amount that is added to it. The ledger
 * accounts are `user:7:main`, `user:7:held`, `user:7:aff`, `revenue`, `promo`, `adjustment`,
 * `redemption` and `cash:<provider>`. The legs of an event sum to 0.
 */
export type Posting = readonly [account: string, amount: WireQuota]

export type QuotaGranted = Fact<
  'QuotaGranted',
  {
    readonly userId: number
    /** The id of the grant. Each id is granted at most once. */
    readonly grantId: string
    readonly amount: WireQuota
    readonly reason: 'setup' | 'new-user' | 'invited' | 'admin' | 'redemption'
    /** The admin's reason, encrypted with the key of the user concerned. */
    readonly note?: Sealed
    readonly postings: readonly Posting[]
  }
>

export type QuotaDeducted = Fact<
  'QuotaDeducted',
  {
    readonly userId: number
    readonly deductionId: string
    readonly amount: WireQuota
    readonly reason: 'admin'
    readonly note?: Sealed
    readonly postings: readonly Posting[]
  }
>

/** A person registered with the user's invite code. `reward` is added to the affiliate balance. */
export type InviteRewarded = Fact<
  'InviteRewarded',
  {
    readonly userId: number
    /** The id of the new user. Each new user is rewarded once. */
    readonly inviteeId: number
    /** The reward is 0 if the site gives no reward. The invitation is counted in any case. */
    readonly reward: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** The user moved quota from the affiliate balance to the balance, where it can be spent. */
export type AffiliateTransferred = Fact<
  'AffiliateTransferred',
  {
    readonly userId: number
    /** The id of the transfer. Each id is transferred at most once. */
    readonly transferId: string
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** The user received the reward for a daily check-in. */
export type CheckedIn = Fact<
  'CheckedIn',
  {
    readonly userId: number
    /** The UTC day as text: `2026-11-22`. */
    readonly day: string
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** The members that every event of a top-up has. */
type OrderReference = { readonly userId: number; readonly orderId: number }

/**
 * An order was paid, or refunded quota was restored. Each order and each restoration is credited at
 * most once.
 */
export type TopUpCredited = Fact<
  'TopUpCredited',
  OrderReference & {
    /** The number of the restoration within the order, from 1. It is omitted for the payment. */
    readonly restoreNo?: number
    /** The payment provider, such as `epay` or `stripe`. */
    readonly provider: string
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** A payment was refunded. Its quota is deducted, even if the balance becomes negative. */
export type TopUpReversed = Fact<
  'TopUpReversed',
  OrderReference & {
    readonly refundNo: number
    readonly provider: string
    readonly amount: WireQuota
    /** The reason that the admin entered. */
    readonly note: Sealed
    readonly postings: readonly Posting[]
  }
>

/** An invited user paid a top-up. The inviter's share is added to the affiliate balance. */
export type RebateEarned = Fact<
  'RebateEarned',
  OrderReference & {
    /** The number of the restoration within the order, from 1. It is omitted for the payment. */
    readonly restoreNo?: number
    readonly inviteeId: number
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** A top-up was refunded. The inviter's share is deducted, even if the balance becomes negative. */
export type RebateReversed = Fact<
  'RebateReversed',
  OrderReference & {
    readonly refundNo: number
    readonly amount: WireQuota
    /** The part deducted from the balance if the affiliate balance is too low; omitted if 0. */
    readonly fromBalance?: WireQuota
    readonly postings: readonly Posting[]
  }
>

/**
 * A token's budget was set. The token may spend `remain` more quota, or the entire balance if the
 * token is unlimited.
 */
export type TokenBudgetSet = Fact<
  'TokenBudgetSet',
  {
    readonly userId: number
    readonly tokenId: number
    readonly remain: WireQuota
    readonly isUnlimited: boolean
  }
>

/** The budget was set for each of several tokens that were created together. */
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

/**
 * A budget was closed. Only versions that could not delete several tokens at once wrote this event.
 */
export type TokenBudgetClosed = Fact<
  'TokenBudgetClosed',
  { readonly userId: number; readonly tokenId: number }
>

/** The members that every event of a call has. `call` is the request's id, a UUID v7. */
export type CallFacts = {
  readonly call: string
  readonly userId: number
  readonly tokenId: number
  /** The name of the model in the caller's request. The price depends on this name. */
  readonly model: string
  readonly group: string
  readonly isStream: boolean
  /**
   * The number of calls that a price per call multiplies (`n`). If omitted, it is 1, or 0 for a
   * call that ended without usage.
   */
  readonly calls?: number
  readonly reasoningEffort?: string
  /**
   * The output limit that was sent to the provider because the account or the token could not pay
   * for a larger limit. The unit is tokens per choice. If it is omitted, the limit of the request
   * applies, if there is one.
   */
  readonly outputLimit?: number
}

export type CallAdmitted = Fact<
  'CallAdmitted',
  CallFacts & {
    readonly hold: WireQuota
    readonly price: PriceSnapshot
    /**
     * The time at which the lease ends, in unix milliseconds. If the call makes no progress until
     * then, the sweeper ends it.
     */
    readonly leaseUntil: number
    /** The time at which the request arrived, in unix milliseconds. */
    readonly startedAt: number
    readonly clientIp: Sealed | null
    /** Set if the call pays for the task with the same id. It is omitted for other calls. */
    readonly isTask?: true
    readonly postings: readonly Posting[]
  }
>

/**
 * Records the progress of a long stream. If the owner process dies, the call is charged for the
 * output that was delivered.
 */
export type CallProgressed = Fact<
  'CallProgressed',
  Pick<ProviderCost, 'costRatio'> & {
    readonly call: string
    readonly userId: number
    readonly channelId: number
    readonly usage: Usage
    readonly leaseUntil: number
  }
>

/**
 * The hold of a running call was raised, because the output may cost more than the hold. `hold` is
 * the new total, and `added` is the difference.
 */
export type HoldRaised = Fact<
  'HoldRaised',
  {
    readonly call: string
    readonly userId: number
    readonly tokenId: number
    readonly hold: WireQuota
    readonly added: WireQuota
    readonly postings: readonly Posting[]
  }
>

/**
 * One attempt to send a call to one channel. `status` is the provider's HTTP status. It is null if
 * the provider did not answer.
 */
export type Attempt = {
  readonly channelId: number
  readonly status: number | null
  /** The gateway's error code (`timeout`, `connect`, `status`, `cut`…), or null for a success. */
  readonly error: string | null
  readonly latencyMs: number
  /** Set if the operator's account at the provider failed, which can disable the channel. */
  readonly isAccounts?: true
}

export type CallTimings = {
  /** The time at which the request arrived, in unix milliseconds. */
  readonly startedAt: number
  /** The time from the arrival to the first byte sent to the caller, or null if none was sent. */
  readonly firstByteMs: number | null
  readonly durationMs: number
}

export type CallEnd = 'done' | 'client-gone' | 'upstream-error' | 'timeout' | 'incomplete'

export type CallSettled = Fact<
  'CallSettled',
  CallFacts &
    ProviderCost & {
      readonly channelId: number
      /** The model name that was sent to the provider, or null if it is the caller's name. */
      readonly upstreamModel: string | null
      readonly usage: Usage
      readonly usageSource: UsageSource
      /**
       * The code of an anomaly. The codes `negative`, `absurd`… mean that the provider's counts are
       * impossible and were replaced or reduced. The codes `other-model` and `higher-cost` mean
       * that the provider's answer differs from the request.
       */
      readonly anomaly: string | null
      /**
       * The full usage if the account could not pay for it. `usage` then has the part that was
       * charged: all that the hold and the free quota covered, but at least the part within the
       * call's limits. Earlier versions charged only the part within the limits. The provider's
       * `cost` is for the full usage; in earlier versions it was for `usage`. If `unpaidUsage` is
       * omitted, `usage` is the full usage.
       */
      readonly unpaidUsage?: Usage
      readonly price: PriceSnapshot
      readonly hold: WireQuota
      readonly charge: WireQuota
      readonly end: CallEnd
      readonly endReason?: string
      readonly attempts: readonly Attempt[]
      readonly timings: CallTimings
      readonly clientIp: Sealed | null
      readonly postings: readonly Posting[]
    }
>

/**
 * The call ended without a charge, because no channel was available, all attempts failed, or
 * nothing was delivered.
 */
export type CallReleased = Fact<
  'CallReleased',
  CallFacts & {
    readonly channelId: number | null
    readonly hold: WireQuota
    readonly reason: CallEnd | 'no-channel' | 'refused'
    readonly errorCode: string
    readonly statusCode: number
    readonly attempts: readonly Attempt[]
    readonly timings: CallTimings
    readonly clientIp: Sealed | null
    readonly postings: readonly Posting[]
  }
>

/** The owner process of the call died. The sweeper ended the call and charged its last progress. */
export type CallInterrupted = Fact<
  'CallInterrupted',
  CallFacts &
    ProviderCost & {
      readonly channelId: number | null
      readonly usage: Usage
      readonly price: PriceSnapshot
      readonly hold: WireQuota
      readonly charge: WireQuota
      readonly startedAt: number
      readonly clientIp: Sealed | null
      readonly postings: readonly Posting[]
    }
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
