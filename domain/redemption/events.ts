import type { Fact } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** One stream per key ever used; `keyLookup` is the key's keyed hash. */
export const redemptionStream = (keyLookup: string): string => `redemption-${keyLookup}`

/** Where ids are given out. */
export const REDEMPTION_IDS_STREAM = 'redemption-ids'

/** What an admin sets. Times in unix seconds. */
export type RedemptionTerms = {
  readonly name: string
  /** What each use credits. */
  readonly quota: WireQuota
  /** A gift is for several users, once each; any other code is for the first who comes. */
  readonly isGift: boolean
  /** null: as many users as come; 1 where it is no gift. */
  readonly maxUses: number | null
  /** null: at once. */
  readonly validFrom: number | null
  /** No longer from then on; null: for ever. */
  readonly validUntil: number | null
}

export type RedemptionCreated = Fact<
  'RedemptionCreated',
  {
    readonly redemptionId: number
    readonly keyLookup: string
    /** Vault reference of the key itself, for admins. */
    readonly keyRef: string
    /** The key's last four characters; none of a short key. */
    readonly keyHint: string
    readonly terms: RedemptionTerms
  }
>

export type RedemptionTermsChanged = Fact<
  'RedemptionTermsChanged',
  { readonly redemptionId: number; readonly terms: RedemptionTerms }
>

type OfRedemption<Type extends string> = Fact<Type, { readonly redemptionId: number }>

export type RedemptionDisabled = OfRedemption<'RedemptionDisabled'>
export type RedemptionEnabled = OfRedemption<'RedemptionEnabled'>
/** Its key may be given to another code from now on. */
export type RedemptionDeleted = OfRedemption<'RedemptionDeleted'>

/** The decision: this use is that user's. The account's grant follows from it, in one append. */
export type CodeRedeemed = Fact<
  'CodeRedeemed',
  {
    readonly redemptionId: number
    readonly userId: number
    readonly quota: WireQuota
    /** Which use it is, from 1. */
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

/** Keyed hashes: of the `Idempotency-Key` with its sender, and of what was asked for. */
export type RedemptionRequest = { readonly key: string; readonly content: string }

/** Ids `first` to `first + count - 1` are taken, for ever; `request`: what asked for them. */
export type RedemptionIdsTaken = Fact<
  'RedemptionIdsTaken',
  { readonly first: number; readonly count: number; readonly request?: RedemptionRequest }
>
