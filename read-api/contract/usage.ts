import Type, { type Static } from 'typebox'

const spent = {
  count: Type.Integer(),
  quota: Type.Integer(),
  token_used: Type.Integer(),
}

/** One day (of UTC) of one token; `token_id` 0 gathers what is of no token that is named. */
export const TokenUsagePoint = Type.Object({
  /** Unix seconds of the day's start. */
  created_at: Type.Integer(),
  /** Below 0: the playground. */
  token_id: Type.Integer(),
  token_name: Type.String(),
  ...spent,
})
export type TokenUsagePoint = Static<typeof TokenUsagePoint>

/**
 * What providers ask for, in quota, as far as it is known, and what was charged for those same
 * calls: the margin is `costed_quota` less `cost`. Both 0: nothing is known of any.
 */
const costed = { cost: Type.Integer(), costed_quota: Type.Integer() }

/** How the site does, for admins. */
export const SiteUsage = Type.Object({
  /** In the hours that the range touches. */
  totals: Type.Object({
    ...spent,
    ...costed,
    failed: Type.Integer(),
    /** Who were charged. */
    users: Type.Integer(),
  }),
  top_users: Type.Array(
    Type.Object({
      user_id: Type.Integer(),
      /** Empty once the person was erased. */
      username: Type.String(),
      ...spent,
    }),
  ),
  top_models: Type.Array(Type.Object({ model_name: Type.String(), ...spent, ...costed })),
  top_channels: Type.Array(
    Type.Object({
      channel_id: Type.Integer(),
      name: Type.String(),
      ...spent,
      ...costed,
    }),
  ),
  /** Events that were written and not yet folded, by the read model furthest behind. */
  lag: Type.Object({ head: Type.Integer(), behind: Type.Integer(), read_model: Type.String() }),
})
export type SiteUsage = Static<typeof SiteUsage>
