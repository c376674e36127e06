import type { Fact } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** Each key that was ever used has one stream; `keyLookup` is a keyed hash of the key. */
export const redemptionStream = (keyLookup: string): string => `redemption-${keyLookup}`

/** The stream in which ids are assigned. */
export const REDEMPTION_IDS_STREAM = 'redemption-ids'

/** The settings of a code. Times are in unix seconds. */
export type RedemptionTerms = {
  readonly name: string
  /** The quota that each use credits. */
  readonly quota: WireQuota
  /** A gift can be redeemed by several users, once each; any other code only by the first. */
  readonly isGift: boolean
  /** null means without a limit; 1 unless the code is a gift. */
  readonly maxUses: number | null
  /** null means at once. */
  readonly validFrom: number | null
  /** The first moment at which the code is no longer valid; null means never. */
  readonly validUntil: number | null
}

export type RedemptionCreated = Fact<
  'RedemptionCreated',
  {
    readonly redemptionId: number
    readonly keyLookup: string
    /** The vault reference of the key, for admins. */
    readonly keyRef: string
    /** The last four characters of the key; empty for a short key. */
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
/** The key may be used for another code from now on. */
export type RedemptionDeleted = RedemptionFact<'RedemptionDeleted'>

/** This use belongs to that user. The account's grant is in the same append. */
export type CodeRedeemed = Fact<
  'CodeRedeemed',
  {
    readonly redemptionId: number
    readonly userId: number
    readonly quota: WireQuota
    /** The number of this use, from 1. */
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

/** Keyed hashes: one of the `Idempotency-Key` with its sender, one of the request's content. */
export type RedemptionRequest = { readonly key: string; readonly content: string }

/**
 * The ids `first` to `first + count - 1` are assigned permanently; `request` is the request that
 * needed them.
 */
export type RedemptionIdsTaken = Fact<
  'RedemptionIdsTaken',
  { readonly first: number; readonly count: number; readonly request?: RedemptionRequest }
>
