import type { WireQuota } from '../shared/quota.ts'

/** A decimal as text, such as `0.075`. It is computed exactly, never in floating point. */
export type DecimalText = string

/**
 * The price at admission. It is kept in the call's events, so that its bill can be recomputed from
 * them alone. `list` is the revision of the options stream at which it was read.
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
  /** Dollars per call. */
  readonly price: DecimalText
} & GroupPrice

type GroupPrice = {
  /** The ratio of the called group for this user's group. */
  readonly group: DecimalText
  /**
   * The user's group where it differs from the called group, because special ratios depend on both.
   */
  readonly userGroup?: string
}

/** The provider's charge for a call; both members are omitted where its price is unknown. */
export type ProviderCost = {
  /**
   * The channel's cost ratio when the call was sent: a multiple of the list price (group ratio 1).
   */
  readonly costRatio?: DecimalText
  /** In quota. */
  readonly cost?: WireQuota
}
