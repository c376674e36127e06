import type { WireQuota } from '../shared/quota.ts'
import type { PriceCondition, ToolName } from './usage.ts'

/** A decimal as text, such as `0.075`, because a floating-point number would be inexact. */
export type DecimalText = string

/**
 * The price of a call, fixed at its admission. `list` is the revision of the options stream from
 * which the price was taken. Events contain the price, so that the charge can be computed again
 * without other data.
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
  /**
   * The price of images in the answer, as a multiple of the input price. Omitted if images cost the
   * same as text, or if the answer can't contain images.
   */
  readonly imageCompletion?: DecimalText
  /** Omitted if the price does not depend on the length of the input. */
  readonly tiers?: readonly ContextTier[]
} & GroupPrice

/**
 * Higher prices for calls with more than `above` input tokens of any kind. The last tier that the
 * input exceeds multiplies all input prices by `input` and all output prices by `output`. Tiers are
 * in ascending order. The ratios are at least 1 and never decrease from one tier to the next.
 */
export type ContextTier = {
  readonly above: number
  readonly input: DecimalText
  readonly output: DecimalText
}

/** The prices of tools that the provider runs, in dollars per 1000 uses. */
export type ToolPrices = Readonly<Partial<Record<ToolName, DecimalText>>>

/**
 * The factors by which conditions multiply the price of a call. The prices of tools that the call
 * used are not multiplied.
 */
export type ConditionRatios = Readonly<Partial<Record<PriceCondition, DecimalText>>>

export type PerCallPrice = {
  readonly mode: 'call'
  readonly list: number
  /** The price in dollars per call, or per second if `per` is set. */
  readonly price: DecimalText
  /**
   * Set for calls that generate images. The price is charged for each delivered image and is
   * multiplied by this factor. The factor depends on the size and the quality of the images.
   */
  readonly imageFactor?: DecimalText
  /** Set if the provider bills the seconds of a video. */
  readonly per?: 'second'
  /** The properties of the request whose ratios multiply the price. Omitted if there are none. */
  readonly factors?: readonly PriceFactor[]
} & GroupPrice

/**
 * A property of a request that changes the price per call or second, such as the resolution
 * `1080p`.
 */
export type PriceFactor = { readonly name: string; readonly ratio: DecimalText }

type GroupPrice = {
  /** The ratio of the called group, or the special ratio of this group for users of `userGroup`. */
  readonly group: DecimalText
  /** The user's group, on which special ratios depend. Omitted if it equals the called group. */
  readonly userGroup?: string
  /**
   * The ratio that multiplies the charge of a call in a batch, except for the provider's tools.
   * Omitted for calls that are not in a batch.
   */
  readonly batch?: DecimalText
  /** The prices of the provider's tools that the call may use. Omitted if the call may use none. */
  readonly tools?: ToolPrices
  /** The ratios of the conditions that the call requests. Omitted if the call requests none. */
  readonly conditions?: ConditionRatios
}

/** The provider's charge for a call. If the charge is unknown, both members are omitted. */
export type ProviderCost = {
  /**
   * The channel's cost ratio at the time of the call: the provider's price as a multiple of the
   * list price without the group ratio.
   */
  readonly costRatio?: DecimalText
  readonly cost?: WireQuota
}
