import type { WireQuota } from '../shared/quota.ts'

/** A decimal as text, such as `0.075`, because a floating-point number would be inexact. */
export type DecimalText = string

/**
 * The price at the admission of a call, from revision `list` of the options stream. Events contain
 * the price, so that the charge can be computed again without other data.
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
  /** The ratio of the called group, or a special ratio of the user's group. */
  readonly group: DecimalText
  /** The user's group, on which special ratios depend. Omitted if it equals the called group. */
  readonly userGroup?: string
}

/** The provider's charge for a call. If the charge is unknown, both members are omitted. */
export type ProviderCost = {
  /**
   * The channel's cost ratio at the time of the call: the provider's price as a multiple of the
   * list price (group ratio 1).
   */
  readonly costRatio?: DecimalText
  readonly cost?: WireQuota
}
