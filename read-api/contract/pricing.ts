import Type, { type Static } from 'typebox'
import { UsableGroups } from './users.ts'

/** A model that can be called, with its price before the group ratio is applied. */
export const PricedModel = Type.Object({
  model_name: Type.String(),
  /** The vendor, derived from the model name, or empty. */
  owner_by: Type.String(),
  /** 0 means priced by tokens, and 1 per call. */
  quota_type: Type.Union([Type.Literal(0), Type.Literal(1)]),
  /** 1 means $2 per million input tokens. It is 0 if the model has a price per call. */
  model_ratio: Type.Number(),
  /** In dollars per call. It is 0 if the model is priced by tokens. */
  model_price: Type.Number(),
  completion_ratio: Type.Number(),
  cache_ratio: Type.Number(),
  create_cache_ratio: Type.Number(),
  /** The caller's groups in which the model can be called. */
  enable_groups: Type.Array(Type.String()),
})
export type PricedModel = Static<typeof PricedModel>

/** `GET /api/pricing`. Some maps are outside `data`, because existing clients expect them there. */
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
