import type { WireQuota } from '../shared/quota.ts'

/** A decimal as text, such as `0.075`; computed exactly, never as floating point. */
export type DecimalText = string

/**
 * The price in force at admission, kept in the call's events so that its bill can be recomputed
 * from them alone. `list` is the revision of the options stream it was read at.
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
  /** The ratio of the group that is called with, for this user's group. */
  readonly group: DecimalText
  /** The user's own group, where another one is called with: special ratios go by the two. */
  readonly userGroup?: string
}

/** What the provider asks for a call; both are left out where nobody said what it charges. */
export type ProviderCost = {
  /** The channel's when the call was sent to it: a multiple of the list price (group ratio 1). */
  readonly costRatio?: DecimalText
  /** In quota. */
  readonly cost?: WireQuota
}
