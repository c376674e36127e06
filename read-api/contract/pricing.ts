import Type, { type Static } from 'typebox'
import { PriceUnitLists } from './price-unit-schema.ts'
import { UsableGroups } from './users.ts'

/** The ratios by which a price is multiplied, by name. */
const Ratios = Type.Record(Type.String(), Type.Number())

/**
 * The ratios for the videos of a model. `model_price` is multiplied by the ratio of the video's
 * resolution, and by the ratios of all options of the video.
 */
export const VideoRatios = Type.Object({
  /** By resolution (`1080p`), or by resolution and length (`768p 10s`). */
  resolutions: Ratios,
  /** By option: `pro` for the better mode, and `audio` for sound. */
  options: Ratios,
  /**
   * The video that results from a request without a resolution, a length or options. `resolution`
   * is null if the model has no choice of resolutions. `ratio` is the ratio of the video's
   * resolution, multiplied by the ratios of the video's options. If `resolutions` of the model is
   * empty, the price of every video without options is `model_price` multiplied by this `ratio`.
   */
  default: Type.Object({
    resolution: Type.Union([Type.String(), Type.Null()]),
    options: Type.Array(Type.String()),
    ratio: Type.Number(),
  }),
})
export type VideoRatios = Static<typeof VideoRatios>

/** A model that the requester can use. The prices and ratios do not include the group ratio. */
export const PricedModel = Type.Object({
  model_name: Type.String(),
  /** The vendor of the model, derived from its name. Empty if no vendor is known. */
  owner_by: Type.String(),
  /** 0 if the model is charged by tokens, and 1 if the model is charged by `model_price`. */
  quota_type: Type.Union([Type.Literal(0), Type.Literal(1)]),
  /**
   * The price of input tokens, where 1 means $2 per million tokens. 0 if the model is charged by
   * `model_price`.
   */
  model_ratio: Type.Number(),
  /**
   * The price in dollars of a call, or of one second of a video (see `price_per` and
   * `price_units`). 0 if the model is charged by tokens.
   */
  model_price: Type.Number(),
  /**
   * `second` if all channels of the model that the requester can use bill `model_price` for each
   * second of a video. `video_ratios` has the videos that cost a multiple of this price. Omitted
   * for all other models.
   */
  price_per: Type.Optional(Type.Literal('second')),
  /**
   * Maps each group to the units in which the channels of the group bill `model_price`: `call`,
   * `second` or both. The unit for a request depends on the channel that serves the request.
   * Omitted if all channels of the model that the requester can use bill the same unit.
   */
  price_units: Type.Optional(PriceUnitLists),
  /**
   * The ratios for the model's videos. Omitted if the model makes no videos, if all of its videos
   * cost the same, or if the channels that the requester can use have different ratios.
   */
  video_ratios: Type.Optional(VideoRatios),
  completion_ratio: Type.Number(),
  cache_ratio: Type.Number(),
  create_cache_ratio: Type.Number(),
  /**
   * The price of images in the input, as a multiple of the input price (`model_ratio`). Omitted if
   * these images cost the same as text.
   */
  image_ratio: Type.Optional(Type.Number()),
  /**
   * The price of images in answers, as a multiple of the input price. Omitted if the model has
   * no such ratio. These images then cost the same as text in answers.
   */
  image_completion_ratio: Type.Optional(Type.Number()),
  /**
   * The price of audio in the input, as a multiple of the input price. Omitted if audio in the
   * input and in answers has the price of text in the input.
   */
  audio_ratio: Type.Optional(Type.Number()),
  /**
   * The price of audio in answers, as a multiple of the price of audio in the input. Omitted if
   * audio in answers costs the same as audio in the input.
   */
  audio_completion_ratio: Type.Optional(Type.Number()),
  /**
   * The ratios for long inputs, by ascending limit. The last tier whose limit the input exceeds
   * applies. All input prices of the call are multiplied by `input_ratio`, and all output prices by
   * `output_ratio`. Omitted if the price does not depend on the length of the input.
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
   * The ratio by which `model_price` or all token prices are multiplied in batches (`/v1/batches`
   * and the batches of Anthropic and Gemini). Omitted if no channel that the requester can use
   * accepts batches for the model.
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
  /** The group ratio that applies to the requester in each group. */
  group_ratio: Type.Record(Type.String(), Type.Number()),
  usable_group: UsableGroups,
  /** The group of the requester, or `default` for a visitor without a login. */
  user_group: Type.String(),
})
export type Pricing = Static<typeof Pricing>

export const pricingQueries = {
  'GET /api/pricing': { response: { 200: Pricing } },
}
