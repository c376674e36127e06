import Type, { type Static } from 'typebox'
import { UsableGroups } from './users.ts'

/** A callable model and its price before the group ratio. */
export const PricedModel = Type.Object({
  model_name: Type.String(),
  /** The vendor, derived from the model name; empty if unknown. */
  owner_by: Type.String(),
  /** 0: priced by tokens, 1: priced by call. */
  quota_type: Type.Union([Type.Literal(0), Type.Literal(1)]),
  /** 1 means $2 per million input tokens; 0 if the price is per call. */
  model_ratio: Type.Number(),
  /** Dollars per call; 0 if the price is by tokens. */
  model_price: Type.Number(),
  completion_ratio: Type.Number(),
  cache_ratio: Type.Number(),
  create_cache_ratio: Type.Number(),
  /** The caller's groups that can use the model. */
  enable_groups: Type.Array(Type.String()),
})
export type PricedModel = Static<typeof PricedModel>

/**
 * `GET /api/pricing`: the maps stand next to `data`, because the programs of the ecosystem expect
 * them there.
 */
export const Pricing = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.Array(PricedModel),
  /** Group → the caller's ratio in it. */
  group_ratio: Type.Record(Type.String(), Type.Number()),
  usable_group: UsableGroups,
  /** The caller's group; `default` for visitors. */
  user_group: Type.String(),
})
export type Pricing = Static<typeof Pricing>

export const pricingQueries = {
  'GET /api/pricing': { response: { 200: Pricing } },
}
