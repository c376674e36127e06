import Type, { type Static } from 'typebox'
import { UsableGroups } from './users.ts'

/** A model that can be called, and what it costs before the group's ratio. */
export const PricedModel = Type.Object({
  model_name: Type.String(),
  /** Whose model it is, by its name; empty where the name does not say. */
  owner_by: Type.String(),
  /** 0 by tokens, 1 by call. */
  quota_type: Type.Union([Type.Literal(0), Type.Literal(1)]),
  /** 1 = $2 per million input tokens; 0 where the price is by call. */
  model_ratio: Type.Number(),
  /** Dollars per call; 0 where the price is by tokens. */
  model_price: Type.Number(),
  completion_ratio: Type.Number(),
  cache_ratio: Type.Number(),
  create_cache_ratio: Type.Number(),
  /** Those of the caller's groups that reach it. */
  enable_groups: Type.Array(Type.String()),
})
export type PricedModel = Static<typeof PricedModel>

/** `GET /api/pricing`: the maps stand beside `data`, as the ecosystem's programs read them. */
export const Pricing = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.Array(PricedModel),
  /** Group → what the caller pays in it. */
  group_ratio: Type.Record(Type.String(), Type.Number()),
  usable_group: UsableGroups,
  /** The caller's own; `default` for visitors. */
  user_group: Type.String(),
})
export type Pricing = Static<typeof Pricing>
