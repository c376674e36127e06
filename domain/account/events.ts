import type { PriceSnapshot, ProviderCost } from '../pricing/price.ts'
import type { Usage, UsageSource } from '../pricing/usage.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** The stream with all events of a user's money. */
export const accountStream = (userId: number): string => `account-${userId}`

/**
 * One leg of a movement of quota: a ledger account (`user:7:main`, `user:7:held`, `user:7:aff`,
 * `revenue`, `promo`, `adjustment`, `redemption`, `cash:<provider>`) and the amount added to it.
 * The legs of an event sum to 0.
 */
export type Posting = readonly [account: string, amount: WireQuota]

export type QuotaGranted = Fact<
  'QuotaGranted',
  {
    readonly userId: number
    /** Each id is granted at most once. */
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

/** A person registered with the user's invite code: `reward` goes to the affiliate balance. */
export type InviteRewarded = Fact<
  'InviteRewarded',
  {
    readonly userId: number
    /** The new user, who is rewarded for once. */
    readonly inviteeId: number
    /** 0 where the site gives no reward; the invitation counts nevertheless. */
    readonly reward: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** Rewards of invitations became spendable quota. */
export type AffiliateTransferred = Fact<
  'AffiliateTransferred',
  {
    readonly userId: number
    /** Each id is transferred at most once. */
    readonly transferId: string
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** The reward of one day. */
export type CheckedIn = Fact<
  'CheckedIn',
  {
    readonly userId: number
    /** The UTC day: `2026-11-22`. */
    readonly day: string
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** Every event of a top-up has these. */
type OrderReference = { readonly userId: number; readonly orderId: number }

/** An order was paid, or refunded quota was restored. Each happens at most once. */
export type TopUpCredited = Fact<
  'TopUpCredited',
  OrderReference & {
    /** Counts the restorations of an order from 1; omitted for the payment. */
    readonly restoreNo?: number
    /** The payment provider: `epay`, `stripe`. */
    readonly provider: string
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** Money was refunded: the quota it had bought is taken back, even below 0. */
export type TopUpReversed = Fact<
  'TopUpReversed',
  OrderReference & {
    readonly refundNo: number
    readonly provider: string
    readonly amount: WireQuota
    /** The reason in the admin's words. */
    readonly note: Sealed
    readonly postings: readonly Posting[]
  }
>

/** An invited user topped up: the inviter's share goes to the affiliate balance. */
export type RebateEarned = Fact<
  'RebateEarned',
  OrderReference & {
    /** As in `TopUpCredited`. */
    readonly restoreNo?: number
    readonly inviteeId: number
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** The top-up was refunded: the inviter's share is taken back, even below 0. */
export type RebateReversed = Fact<
  'RebateReversed',
  OrderReference & {
    readonly refundNo: number
    readonly amount: WireQuota
    /** The part taken from the balance, because the affiliate balance was too low; omitted if 0. */
    readonly fromBalance?: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** The token may spend `remain` more, or, if unlimited, as much as the balance allows. */
export type TokenBudgetSet = Fact<
  'TokenBudgetSet',
  {
    readonly userId: number
    readonly tokenId: number
    readonly remain: WireQuota
    readonly isUnlimited: boolean
  }
>

/** The budget of each of several tokens that were created together. */
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

/** Written by earlier versions, before several tokens could be deleted together. */
export type TokenBudgetClosed = Fact<
  'TokenBudgetClosed',
  { readonly userId: number; readonly tokenId: number }
>

/**
 * Every event of a call has these. `call` is the id of the request, a UUID v7, which sorts by time.
 */
export type CallFacts = {
  readonly call: string
  readonly userId: number
  readonly tokenId: number
  /** The model by the caller's name, which is the one that is priced. */
  readonly model: string
  readonly group: string
  readonly isStream: boolean
  /** How many calls a price per call counts (`n`). If omitted: 1, or 0 for an end without usage. */
  readonly calls?: number
  readonly reasoningEffort?: string
  /**
   * The output limit that was sent to the provider because the account or the token could not cover
   * a larger one, in tokens of each choice. If omitted, the limit of the request applies, if any.
   */
  readonly outputLimit?: number
}

export type CallAdmitted = Fact<
  'CallAdmitted',
  CallFacts & {
    readonly hold: WireQuota
    readonly price: PriceSnapshot
    /** Unix milliseconds; the sweeper ends a call that has no progress until then. */
    readonly leaseUntil: number
    /** The arrival of the request in unix milliseconds. */
    readonly startedAt: number
    readonly clientIp: Sealed | null
    /** The call pays for the task of the same id. Omitted for other calls. */
    readonly isTask?: true
    readonly postings: readonly Posting[]
  }
>

/**
 * Records how far a long stream got, so that it is charged for what it delivered if its owner dies.
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
 * A running call holds more, because its output exceeds what its hold covers. `hold` is the new
 * total, `added` the difference.
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
 * One attempt at one channel. `status` is the provider's HTTP status, or null without an answer.
 */
export type Attempt = {
  readonly channelId: number
  readonly status: number | null
  /** A code of the gateway (`timeout`, `connect`, `status`, `cut`…), or null for a success. */
  readonly error: string | null
  readonly latencyMs: number
  /** Whether the operator's account at the provider failed, which counts towards auto-disabling. */
  readonly isAccounts?: true
}

export type CallTimings = {
  /** The arrival of the request in unix milliseconds. */
  readonly startedAt: number
  /** The time from the arrival to the first byte sent to the caller, or null when none was sent. */
  readonly firstByteMs: number | null
  readonly durationMs: number
}

export type CallEnd = 'done' | 'client-gone' | 'upstream-error' | 'timeout' | 'incomplete'

export type CallSettled = Fact<
  'CallSettled',
  CallFacts &
    ProviderCost & {
      readonly channelId: number
      /** The model's name as sent to the provider, or null where it is the caller's name. */
      readonly upstreamModel: string | null
      readonly usage: Usage
      readonly usageSource: UsageSource
      /**
       * The code of an anomaly. Either the provider's counts are impossible (`negative`, `absurd`…)
       * and were replaced or cut, or its answer differs from the request: `other-model`,
       * `higher-cost`.
       */
      readonly anomaly: string | null
      /**
       * The full usage where the account could not pay for it; `usage` is then the part within the
       * call's limits. If omitted, `usage` is the full usage.
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
 * The call ended without a charge: there was no channel, every attempt failed, or nothing was
 * delivered.
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

/** The owner of the call died. The sweeper ended it, charged for its last progress. */
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
