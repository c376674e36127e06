import type { Fact } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/**
 * Returns the name of the stream of a redemption key. If the key is used again after its code was
 * deleted, the new code has the same stream. `keyLookup` is a keyed hash of the key.
 */
export const redemptionStream = (keyLookup: string): string => `redemption-${keyLookup}`

/** The stream in which the ids of codes are assigned. */
export const REDEMPTION_IDS_STREAM = 'redemption-ids'

/** The settings of a code. Times are in Unix seconds. */
export type RedemptionTerms = {
  readonly name: string
  /** The quota that is credited at each redemption. */
  readonly quota: WireQuota
  /**
   * A gift can be redeemed by several users, once by each user. Any other code can be redeemed only
   * once.
   */
  readonly isGift: boolean
  /**
   * The maximum number of redemptions of a gift, or null for no limit. Any other code has one use.
   */
  readonly maxUses: number | null
  /** The time from which the code is valid, or null. */
  readonly validFrom: number | null
  /** The time at which the code expires, or null. */
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
/** The code was deleted. A new code may use its key. */
export type RedemptionDeleted = RedemptionFact<'RedemptionDeleted'>

/** A user redeemed the code. The same append contains the grant to the user's account. */
export type CodeRedeemed = Fact<
  'CodeRedeemed',
  {
    readonly redemptionId: number
    readonly userId: number
    readonly quota: WireQuota
    /** The number of this redemption of the code, counted from 1. */
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
 * `key` is a keyed hash of the `Idempotency-Key` and its sender. `content` is a keyed hash of the
 * request's content.
 */
export type RedemptionRequest = { readonly key: string; readonly content: string }

/**
 * The ids from `first` to `first + count - 1` were assigned permanently to the codes of `request`.
 */
export type RedemptionIdsTaken = Fact<
  'RedemptionIdsTaken',
  { readonly first: number; readonly count: number; readonly request?: RedemptionRequest }
>
