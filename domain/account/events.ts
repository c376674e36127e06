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
    /** The id of the grant. A grant with the same id is made only once. */
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

/** A user registered with this user's invite code. `reward` is added to the affiliate balance. */
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

/** The user moved quota from the affiliate balance to the balance. */
export type AffiliateTransferred = Fact<
  'AffiliateTransferred',
  {
    readonly userId: number
    /** The id of the transfer. A transfer with the same id is made only once. */
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

/** The data that every event of a top-up has. */
type OrderReference = { readonly userId: number; readonly orderId: number }

/**
 * An order was paid, or quota was restored because a refund failed or a dispute was won. Each order
 * and each restoration is credited at most once.
 */
export type TopUpCredited = Fact<
  'TopUpCredited',
  OrderReference & {
    /**
     * The number of the restoration within the order, from 1. It is omitted if the event is for the
     * payment of the order.
     */
    readonly restoreNo?: number
    /** The payment provider, such as `epay` or `stripe`. */
    readonly provider: string
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/**
 * A payment was refunded. The quota that was bought with it is deducted, even if the balance
 * becomes negative.
 */
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
    /**
     * The number of the restoration within the order, from 1. It is omitted if the event is for the
     * payment of the order.
     */
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
    /**
     * The part of the share that was deducted from the balance because the affiliate balance was
     * too low. It is omitted if it is 0.
     */
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
    /**
     * Set if open calls continue although `remain` is not positive. Their holds are part of the
     * budget that the owner set.
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

/**
 * The budget of a single token was closed. Only earlier versions, which deleted tokens one by one,
 * wrote this event.
 */
export type TokenBudgetClosed = Fact<
  'TokenBudgetClosed',
  { readonly userId: number; readonly tokenId: number }
>

/** The data that every event of a call has. `call` is the id of the request, a UUID v7. */
export type CallFacts = {
  readonly call: string
  readonly userId: number
  readonly tokenId: number
  /** The name of the model in the caller's request. The price depends on this name. */
  readonly model: string
  readonly group: string
  readonly isStream: boolean
  /**
   * The number `n` by which a price per call is multiplied. If omitted, it is 1, or 0 for a call
   * that ended without usage.
   */
  readonly calls?: number
  readonly reasoningEffort?: string
  /**
   * The output limit, in tokens per choice, that was sent to the provider because the account or
   * the token could not pay for a larger limit. If it is omitted, the limit of the request was not
   * reduced.
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
    /** Set if the call pays for a task. The call and its task have the same id. */
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
 * The hold of a running call was raised because the output may cost more than the previous hold.
 * `hold` is the new total, and `added` is the increase.
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
  /**
   * Set if the provider rejected the operator's key or account. Such a failure can disable the
   * channel.
   */
  readonly isAccounts?: true
}

export type CallTimings = {
  /** The time at which the request arrived, in unix milliseconds. */
  readonly startedAt: number
  /**
   * The time in milliseconds from the arrival of the request to the first byte sent to the caller.
   * It is null if no byte was sent.
   */
  readonly firstByteMs: number | null
  readonly durationMs: number
}

export type CallEnd = 'done' | 'client-gone' | 'upstream-error' | 'timeout' | 'incomplete'

export type CallSettled = Fact<
  'CallSettled',
  CallFacts &
    ProviderCost & {
      readonly channelId: number
      /**
       * The model name that was sent to the provider. It is null if the caller's model name was
       * sent.
       */
      readonly upstreamModel: string | null
      readonly usage: Usage
      readonly usageSource: UsageSource
      /**
       * The code of an anomaly in the provider's answer. `negative`, `absurd` and similar codes
       * mean that the reported counts are impossible and were replaced or reduced. `other-model`
       * and `higher-cost` mean that the answer differs from the request.
       */
      readonly anomaly: string | null
      /**
       * The full usage, set if the account could not pay for it. In this case, `usage` is the part
       * that was charged: what the hold and the free quota covered, but at least the part within
       * the call's limits. `cost` is the provider's charge for the full usage.
       *
       * Earlier versions charged only the part within the limits, and their `cost` is for `usage`.
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
 * The call ended without a charge because no channel was available, all attempts failed, or nothing
 * was delivered.
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

/**
 * The process that owned the call died. The sweeper ended the call and charged the last recorded
 * usage.
 */
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
