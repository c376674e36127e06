import Type, { type Static } from 'typebox'
import { Envelope, Query } from './envelope.ts'
import { UsagePoint } from './logs.ts'

const spent = {
  count: Type.Integer(),
  quota: Type.Integer(),
  token_used: Type.Integer(),
}

/** The usage of one token on one UTC day; `token_id` 0 sums the usage of all other tokens. */
export const TokenUsagePoint = Type.Object({
  /** The start of the day in Unix seconds. */
  created_at: Type.Integer(),
  /** Negative for the playground. */
  token_id: Type.Integer(),
  token_name: Type.String(),
  ...spent,
})
export type TokenUsagePoint = Static<typeof TokenUsagePoint>

/**
 * The providers' known charges in quota, and the quota charged for those calls: the margin is
 * `costed_quota` minus `cost`. Both are 0 if no cost is known.
 */
const costed = { cost: Type.Integer(), costed_quota: Type.Integer() }

/** The site's usage, for admins. */
export const SiteUsage = Type.Object({
  /** Totals of the hours that the range touches. */
  totals: Type.Object({
    ...spent,
    ...costed,
    failed: Type.Integer(),
    /** The number of users who were charged. */
    users: Type.Integer(),
  }),
  top_users: Type.Array(
    Type.Object({
      user_id: Type.Integer(),
      /** Empty once the user was erased. */
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
  /** The number of events that the slowest read model has not processed yet. */
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
