import type { Fact } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/**
 * Returns the name of the stream of a redemption key. All codes that ever have the same key share
 * this stream. `keyLookup` is a keyed hash of the key.
 */
export const redemptionStream = (keyLookup: string): string => `redemption-${keyLookup}`

/** The stream in which the ids of codes are assigned. */
export const REDEMPTION_IDS_STREAM = 'redemption-ids'

/** The settings of a redemption code. Times are in unix seconds. */
export type RedemptionTerms = {
  readonly name: string
  /** The quota that is credited each time the code is redeemed. */
  readonly quota: WireQuota
  /**
   * Set for a gift. A gift can be redeemed by several users, once each. Any other code can be
   * redeemed only once.
   */
  readonly isGift: boolean
  /**
   * The maximum number of times that the code can be redeemed. null means no limit. A code that is
   * not a gift has 1.
   */
  readonly maxUses: number | null
  /** The time from which the code is valid. null means that it is valid immediately. */
  readonly validFrom: number | null
  /** The time at which the code expires. null means that it never expires. */
  readonly validUntil: number | null
}

export type RedemptionCreated = Fact<
  'RedemptionCreated',
  {
    readonly redemptionId: number
    readonly keyLookup: string
    /** The vault reference of the key, which admins can read. */
    readonly keyRef: string
    /** The last four characters of the key. It is empty if the key is short. */
    readonly keyHint: string
    readonly terms: RedemptionTerms
  }
>

export type RedemptionTermsChanged = Fact<
  'RedemptionTermsChanged',
  { readonly redemptionId: number; readonly terms: RedemptionTerms }
>

type RedemptionFact<Type extends string> = Fact<Type, { readonly redemptionId: number }>

export type RedemptionDisabled = RedemptionFact<'RedemptionDisabled'>
export type RedemptionEnabled = RedemptionFact<'RedemptionEnabled'>
/** A code was deleted. Its key may be used for another code. */
export type RedemptionDeleted = RedemptionFact<'RedemptionDeleted'>

/** A user redeemed a code. The same append contains the grant to the user's account. */
export type CodeRedeemed = Fact<
  'CodeRedeemed',
  {
    readonly redemptionId: number
    readonly userId: number
    readonly quota: WireQuota
    /** The ordinal number of this redemption among all redemptions of the code. It starts at 1. */
    readonly use: number
  }
>

export type RedemptionEvent =
  | RedemptionCreated
  | RedemptionTermsChanged
  | RedemptionDisabled
  | RedemptionEnabled
  | RedemptionDeleted
  | CodeRedeemed

/**
 * Identifies a request by two keyed hashes. `key` is the hash of the `Idempotency-Key` and its
 * sender. `content` is the hash of the request's content.
 */
export type RedemptionRequest = { readonly key: string; readonly content: string }

/**
 * The ids from `first` to `first + count - 1` were assigned permanently. `request` is the request
 * that creates the codes with these ids.
 */
export type RedemptionIdsTaken = Fact<
  'RedemptionIdsTaken',
  { readonly first: number; readonly count: number; readonly request?: RedemptionRequest }
>
