import Type, { type Static } from 'typebox'
import { UsableGroups } from './users.ts'

/** A model that the caller can use. Its price does not include the group ratio. */
export const PricedModel = Type.Object({
  model_name: Type.String(),
  /** The vendor, which is derived from the model's name, or empty. */
  owner_by: Type.String(),
  /** 0 if the model is priced by tokens, and 1 if it has a price per call. */
  quota_type: Type.Union([Type.Literal(0), Type.Literal(1)]),
  /**
   * The price of input tokens. 1 means $2 per million tokens. It is 0 if the model has a price per
   * call.
   */
  model_ratio: Type.Number(),
  /** The price per call in dollars. It is 0 if the model is priced by tokens. */
  model_price: Type.Number(),
  completion_ratio: Type.Number(),
  cache_ratio: Type.Number(),
  create_cache_ratio: Type.Number(),
  /**
   * If the input has more tokens than a tier's limit, the last such tier multiplies all input
   * prices and all output prices of the call. Omitted if the price does not depend on the length.
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
  /** The groups of the caller that can use the model. */
  enable_groups: Type.Array(Type.String()),
})
export type PricedModel = Static<typeof PricedModel>

/** The response of `GET /api/pricing`. Existing clients expect some maps outside `data`. */
export const Pricing = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.Array(PricedModel),
  /** The ratio that the caller pays in each group. */
  group_ratio: Type.Record(Type.String(), Type.Number()),
  usable_group: UsableGroups,
  /** The group of the caller. It is `default` for visitors. */
  user_group: Type.String(),
})
export type Pricing = Static<typeof Pricing>

export const pricingQueries = {
  'GET /api/pricing': { response: { 200: Pricing } },
}
