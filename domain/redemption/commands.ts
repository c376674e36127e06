import type { Quota } from '../shared/quota.ts'
import type { RedemptionTerms } from './events.ts'

/** Its id was taken beforehand. */
export type CreateRedemption = {
  readonly type: 'CreateRedemption'
  readonly redemptionId: number
  readonly keyLookup: string
  readonly keyRef: string
  readonly keyHint: string
  readonly terms: RedemptionTerms
}

type OfRedemption<Type extends string> = { readonly type: Type; readonly redemptionId: number }

export type ChangeRedemption = OfRedemption<'ChangeRedemption'> & {
  readonly terms: RedemptionTerms
}
export type EnableRedemption = OfRedemption<'EnableRedemption'>

/** `isOneOfMany`: where it can't be done, it changes nothing, so that the others are. */
export type DisableRedemption = OfRedemption<'DisableRedemption'> & {
  readonly isOneOfMany?: boolean
}

/** As above. `onlyDisabled`: any other code stays. */
export type DeleteRedemption = OfRedemption<'DeleteRedemption'> & {
  readonly isOneOfMany?: boolean
  readonly onlyDisabled?: boolean
}

/**
 * `redemptionId` and `quota` are what the same act credits to the account: refused where the key is
 * another code's by now, or worth something else. `now` in unix seconds.
 */
export type RedeemCode = OfRedemption<'RedeemCode'> & {
  readonly userId: number
  readonly quota: Quota
  readonly now: number
}

export type RedemptionCommand =
  | CreateRedemption
  | ChangeRedemption
  | EnableRedemption
  | DisableRedemption
  | DeleteRedemption
  | RedeemCode
