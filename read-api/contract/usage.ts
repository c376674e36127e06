import Type, { type Static } from 'typebox'
import { UsagePoint } from './logs.ts'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

const spent = {
  count: Type.Integer(),
  quota: Type.Integer(),
  token_used: Type.Integer(),
}

/**
 * The usage of one token on one UTC day. Only the most used tokens and the playground have entries.
 * The entry with `token_id` 0 is the sum of all other usage.
 */
export const TokenUsagePoint = Type.Object({
  /** The start of the day in Unix seconds. */
  created_at: Type.Integer(),
  /** The id of the token. Calls from the playground have a negative id. */
  token_id: Type.Integer(),
  token_name: Type.String(),
  ...spent,
})
export type TokenUsagePoint = Static<typeof TokenUsagePoint>

/**
 * `cost` is the expected cost of the calls at the providers, in quota. `costed_quota` is the amount
 * that users were charged for the same calls. Both amounts leave out calls with an unknown cost.
 * The margin is `costed_quota` minus `cost`.
 */
const costed = { cost: Type.Integer(), costed_quota: Type.Integer() }

/** The usage of the entire site, for admins. */
export const SiteUsage = Type.Object({
  /** The totals over the range. An hour that is only partly in the range counts in full. */
  totals: Type.Object({
    ...spent,
    ...costed,
    /**
     * The number of input tokens. `cache_read_tokens` is the number of these tokens that providers
     * read from their caches.
     */
    input_tokens: Type.Integer(),
    cache_read_tokens: Type.Integer(),
    /**
     * The quota that the providers' caches saved. Negative if writes to the caches cost more than
     * reads saved.
     */
    cache_saved: Type.Integer(),
    failed: Type.Integer(),
    /** The number of users who were charged in the range. */
    users: Type.Integer(),
  }),
  top_users: Type.Array(
    Type.Object({
      user_id: Type.Integer(),
      /** The name of the user. Empty if the user's data was erased. */
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
  /**
   * The lag of the slowest read model. `behind` is the number of events that this read model has
   * not processed yet.
   */
  lag: Type.Object({ head: Type.Integer(), behind: Type.Integer(), read_model: Type.String() }),
})
export type SiteUsage = Static<typeof SiteUsage>

export const UsageRange = Type.Object({
  start_timestamp: Query.integer,
  end_timestamp: Query.integer,
})
export type UsageRange = Static<typeof UsageRange>

const points = { 200: Envelope(Type.Array(UsagePoint)) }

export const usageQueries = {
  'GET /api/data/': {
    querystring: Type.Object({ ...UsageRange.properties, username: Query.text }),
    response: points,
  },
  'GET /api/data/self/': { querystring: UsageRange, response: points },
  'GET /api/data/site': {
    summary: 'Get totals and margin of the site, top users, models and channels, and the read lag',
    querystring: UsageRange,
    response: { 200: Envelope(SiteUsage) },
  },
  'GET /api/data/self/tokens': {
    summary: 'Get the charges of your tokens by day (UTC); id 0 is the rest',
    querystring: UsageRange,
    response: { 200: Envelope(Type.Array(TokenUsagePoint)) },
  },
}
