import type { PriceSnapshot, ProviderCost } from '../pricing/price.ts'
import type { Usage, UsageSource } from '../pricing/usage.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** The stream of the user's money: every event of this file is in it. */
export const accountStream = (userId: number): string => `account-${userId}`

/**
 * One leg of a movement: a ledger account (`user:7:main`, `user:7:held`, `user:7:aff`, `revenue`,
 * `promo`, `adjustment`, `redemption`, `cash:<provider>`) and what it gains. The legs of an event
 * sum to 0.
 */
export type Posting = readonly [account: string, amount: WireQuota]

export type QuotaGranted = Fact<
  'QuotaGranted',
  {
    readonly userId: number
    /** The same id is never granted twice. */
    readonly grantId: string
    readonly amount: WireQuota
    readonly reason: 'setup' | 'new-user' | 'invited' | 'admin' | 'redemption'
    /** Why, in the admin's words; sealed for the user whom it is about. */
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

/** Somebody registered with the user's invite code: `reward` is the affiliate balance's. */
export type InviteRewarded = Fact<
  'InviteRewarded',
  {
    readonly userId: number
    /** The new user: rewarded for once. */
    readonly inviteeId: number
    /** 0 when the site gives nothing: the invitation counts all the same. */
    readonly reward: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** What invitations brought became quota to spend. */
export type AffiliateTransferred = Fact<
  'AffiliateTransferred',
  {
    readonly userId: number
    /** The same id is never transferred twice. */
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
    /** `2026-11-22`, UTC. */
    readonly day: string
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** What every event of a top-up says: whose account, and for which order. */
type OfOrder = { readonly userId: number; readonly orderId: number }

/** An order was paid, or what a refund took is restored: the account's side of it, once each. */
export type TopUpCredited = Fact<
  'TopUpCredited',
  OfOrder & {
    /** Counts up from 1 in its order; left out: the payment itself. */
    readonly restoreNo?: number
    /** Who took the money: `epay`, `stripe`. */
    readonly provider: string
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** Money was given back: what it had bought is taken, even below zero. */
export type TopUpReversed = Fact<
  'TopUpReversed',
  OfOrder & {
    readonly refundNo: number
    readonly provider: string
    readonly amount: WireQuota
    /** Why, in the admin's words. */
    readonly note: Sealed
    readonly postings: readonly Posting[]
  }
>

/** Somebody whom the user invited topped up: a share for the affiliate balance. */
export type RebateEarned = Fact<
  'RebateEarned',
  OfOrder & {
    /** As of `TopUpCredited`. */
    readonly restoreNo?: number
    readonly inviteeId: number
    readonly amount: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** The top-up was refunded, and its share goes with it: even below zero. */
export type RebateReversed = Fact<
  'RebateReversed',
  OfOrder & {
    readonly refundNo: number
    readonly amount: WireQuota
    /** The part of it that the affiliate balance lacked; left out when nothing. */
    readonly fromBalance?: WireQuota
    readonly postings: readonly Posting[]
  }
>

/** A token may spend `remain` more, or without limit but the balance's. */
export type TokenBudgetSet = Fact<
  'TokenBudgetSet',
  {
    readonly userId: number
    readonly tokenId: number
    readonly remain: WireQuota
    readonly isUnlimited: boolean
  }
>

/** As tokens that were made together have it, each for itself. */
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

/** Written before tokens could be deleted together; read as ever. */
export type TokenBudgetClosed = Fact<
  'TokenBudgetClosed',
  { readonly userId: number; readonly tokenId: number }
>

/** What every event of a call says of it. `call` is the request id, time-ordered (UUID v7). */
export type CallFacts = {
  readonly call: string
  readonly userId: number
  readonly tokenId: number
  /** As the caller named it: what is priced. */
  readonly model: string
  readonly group: string
  readonly isStream: boolean
  /** How many calls a price per call counts (`n`). Left out: 1, or 0 for an end without usage. */
  readonly calls?: number
  readonly reasoningEffort?: string
  /**
   * The output limit that was sent to the provider because the account or the token could not
   * cover a larger one; tokens of each choice. Left out: the request's own limit, if any.
   */
  readonly outputLimit?: number
}

export type CallAdmitted = Fact<
  'CallAdmitted',
  CallFacts & {
    readonly hold: WireQuota
    readonly price: PriceSnapshot
    /** Unix milliseconds: past it, with no progress, the sweeper ends the call. */
    readonly leaseUntil: number
    /** Unix milliseconds of the request's arrival. */
    readonly startedAt: number
    readonly clientIp: Sealed | null
    /** It pays for a task of the same id. Left out: it does not. */
    readonly isTask?: true
    readonly postings: readonly Posting[]
  }
>

/** Long streams say how far they got, so that a call whose owner dies is charged what it gave. */
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
 * A running call holds more: its output went on beyond what its hold covers. `hold` is the new
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

/** One try at one channel. `status` is the provider's own, null when none came. */
export type Attempt = {
  readonly channelId: number
  readonly status: number | null
  /** A code of ours (`timeout`, `connect`, `status`, `cut`…), null when it succeeded. */
  readonly error: string | null
  readonly latencyMs: number
  readonly isAccounts?: true // of our account: it counts towards turning the channel off
}

export type CallTimings = {
  /** Unix milliseconds of the request's arrival. */
  readonly startedAt: number
  /** From arrival to the first byte sent to the caller; null when none was. */
  readonly firstByteMs: number | null
  readonly durationMs: number
}

export type CallEnd = 'done' | 'client-gone' | 'upstream-error' | 'timeout' | 'incomplete'

export type CallSettled = Fact<
  'CallSettled',
  CallFacts &
    ProviderCost & {
      readonly channelId: number
      /** As sent to the provider, when a mapping changed it. */
      readonly upstreamModel: string | null
      readonly usage: Usage
      readonly usageSource: UsageSource
      /**
       * Why the provider's numbers can't be true (`negative`, `absurd`…): not used, or cut. Or what
       * its answer says that is not what was asked for: `other-model`, `higher-cost`.
       */
      readonly anomaly: string | null
      /**
       * What would have been charged for, where the account could not pay for it: `usage` is then
       * that part of it which the call's own limits allow. Left out: `usage` is all there was.
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

/** The call ended and costs nothing: no channel, every try failed, or nothing was delivered. */
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

/** The call's owner died: ended once, by the sweeper, from its last progress. */
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
