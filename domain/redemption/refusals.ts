import type { Refusal } from '../shared/refusal.ts'

export type RedemptionRefusalCode =
  /** Never created, or deleted: as an admin asks. */
  | 'RedemptionUnknown'
  /** There is no such code, it is disabled, or somebody has used it: as who redeems is told. */
  | 'CodeInvalid'
  | 'CodeNotYetValid'
  | 'CodeExpired'
  /** A gift, and this user had it. */
  | 'CodeRedeemedAlready'
  /** A gift that as many users had as may. */
  | 'CodeUsedUp'
  /** What it is worth was changed meanwhile, or its key is another code's: ask again. */
  | 'CodeChanged'
  /** Another code has this key. */
  | 'RedemptionKeyTaken'
  | 'RedemptionIdTaken'
  /** This very request made its codes before. */
  | 'RedemptionsMade'
  /** The same `Idempotency-Key` asked for something else before. */
  | 'RequestKeyReused'
  /** Only an unused code can be changed. */
  | 'RedemptionNotEditable'
  /** A used code can be neither enabled nor disabled. */
  | 'RedemptionUsed'
  /** Not 1 to 20 characters. */
  | 'RedemptionNameLength'
  /** Not above 0. */
  | 'RedemptionQuotaTooSmall'
  /** Fewer than 1 use, or than were made already; details: `least`. */
  | 'MaxUsesTooFew'
  /** A gift that somebody had stays one. */
  | 'GiftInUse'
  | 'ValidityOrder'

export type RedemptionRefusal = Refusal<RedemptionRefusalCode>
