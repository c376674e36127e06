import type { WireQuota } from '../shared/quota.ts'

/**
 * A decimal number as text, such as `0.075`. It is used instead of a floating-point number, so that
 * calculations are exact.
 */
export type DecimalText = string

/**
 * The price at the admission of a call. The call's events contain the price, so that no other data
 * is needed to compute the charge again. `list` is the revision of the options stream from which
 * the price was read.
 */
export type PriceSnapshot = PerTokenPrice | PerCallPrice

export type PerTokenPrice = {
  readonly mode: 'tokens'
  readonly list: number
  readonly model: DecimalText
  readonly completion: DecimalText
  readonly cacheRead: DecimalText
  readonly cacheWrite: DecimalText
  readonly image: DecimalText
  readonly audio: DecimalText
  readonly audioCompletion: DecimalText
} & GroupPrice

export type PerCallPrice = {
  readonly mode: 'call'
  readonly list: number
  /** The price in dollars per call. */
  readonly price: DecimalText
} & GroupPrice

type GroupPrice = {
  /** The ratio of the called group. It may be a special ratio that applies to the user's group. */
  readonly group: DecimalText
  /**
   * The user's group, on which special ratios depend. It is omitted if it equals the called group.
   */
  readonly userGroup?: string
}

/** The provider's charge for a call. If the charge is unknown, both members are omitted. */
export type ProviderCost = {
  /**
   * The channel's cost ratio when the call was made, as a multiple of the list price (group ratio
   * 1).
   */
  readonly costRatio?: DecimalText
  /** The provider's charge in quota. */
  readonly cost?: WireQuota
}
