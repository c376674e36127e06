import Type, { type Static } from 'typebox'
import { PriceUnitLists } from './price-unit-schema.ts'
import { UsableGroups } from './users.ts'

/** Ratios of a price, by name. */
const Ratios = Type.Record(Type.String(), Type.Number())

/**
 * The ratios by which `model_price` is multiplied for the videos of a model. That of the resolution
 * and those of all options of a video are multiplied with each other.
 */
export const VideoRatios = Type.Object({
  /** By resolution (`1080p`), or by resolution and length (`768p 10s`). */
  resolutions: Ratios,
  /** By option: `pro` for the better mode, and `audio` for sound. */
  options: Ratios,
  /**
   * The video of a request that names no resolution, length or option. Its resolution is null if
   * the model has no choice of it. `ratio` is the product of its ratios. It applies to all videos
   * without options if `resolutions` is empty.
   */
  default: Type.Object({
    resolution: Type.Union([Type.String(), Type.Null()]),
    options: Type.Array(Type.String()),
    ratio: Type.Number(),
  }),
})
export type VideoRatios = Static<typeof VideoRatios>

/** A model that the caller can use. Its price does not include the group ratio. */
export const PricedModel = Type.Object({
  model_name: Type.String(),
  /** The vendor of the model, derived from its name. Empty if no vendor is known. */
  owner_by: Type.String(),
  /** 0 if the model is charged by tokens, and 1 if it is charged by call. */
  quota_type: Type.Union([Type.Literal(0), Type.Literal(1)]),
  /**
   * The price of input tokens, where 1 means $2 per million tokens. 0 if the model is charged by
   * call.
   */
  model_ratio: Type.Number(),
  /** The price of a call in dollars. 0 if the model is charged by tokens. */
  model_price: Type.Number(),
  /**
   * `second` if all channels of the model that the requester can use bill `model_price` for each
   * second of a video. `video_ratios` tells which videos cost a multiple of it. Omitted for all
   * other models.
   */
  price_per: Type.Optional(Type.Literal('second')),
  /**
   * By group: the units for which `model_price` is billed there, `call` or `second` or both. The
   * unit follows from the channel that serves the request. Present only if the channels of the
   * model differ. Omitted for all other models.
   */
  price_units: Type.Optional(PriceUnitLists),
  /**
   * Omitted if the model makes no videos, if all of its videos cost the same, or if the channels
   * that the requester can use bill them by different ratios.
   */
  video_ratios: Type.Optional(VideoRatios),
  completion_ratio: Type.Number(),
  cache_ratio: Type.Number(),
  create_cache_ratio: Type.Number(),
  /**
   * Higher prices for long inputs, by ascending limit. The last tier whose limit the input exceeds
   * applies: its ratios multiply all input prices and all output prices of the call. Omitted if the
   * price does not depend on the length.
   */
  context_tiers: Type.Optional(
    Type.Array(
      Type.Object({
        above_input_tokens: Type.Number(),
        input_ratio: Type.Number(),
        output_ratio: Type.Number(),
      }),
    ),
  ),
  /**
   * The ratio of all prices of tokens in batches (`/v1/batches` and the batches of Anthropic and
   * Gemini). Omitted if no channel that the requester can use takes batches with the model.
   */
  batch_ratio: Type.Optional(Type.Number()),
  /** The groups of the requester in which the model can be called. */
  enable_groups: Type.Array(Type.String()),
})
export type PricedModel = Static<typeof PricedModel>

/** The response of `GET /api/pricing`. Existing clients expect some members beside `data`. */
export const Pricing = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.Array(PricedModel),
  /** The ratio that the requester pays in each group. */
  group_ratio: Type.Record(Type.String(), Type.Number()),
  usable_group: UsableGroups,
  /** The group of the requester, or `default` for a visitor without a login. */
  user_group: Type.String(),
})
export type Pricing = Static<typeof Pricing>

export const pricingQueries = {
  'GET /api/pricing': { response: { 200: Pricing } },
}
