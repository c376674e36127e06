import type { WireQuota } from '../shared/quota.ts'

/** A decimal as text, such as `0.075`. Calculations are exact and never use floating point. */
export type DecimalText = string

/**
 * The price at the admission of a call. The call's events contain the price, so that the charge can
 * be recomputed from the events alone. `list` is the revision of the options stream when the price
 * was read.
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
  /** The ratio of the called group for the user's group. */
  readonly group: DecimalText
  /** The user's group, because special ratios depend on it; omitted if it is the called group. */
  readonly userGroup?: string
}

/** The provider's charge for a call. Both members are omitted if the charge is unknown. */
export type ProviderCost = {
  /** The channel's cost ratio at the time of the call: a multiple of the list price (ratio 1). */
  readonly costRatio?: DecimalText
  /** The provider's charge in quota. */
  readonly cost?: WireQuota
}
