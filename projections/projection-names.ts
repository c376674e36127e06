/**
 * The names of all projections. The tables of a projection are in the Postgres schema
 * `read_<name>`. Hyphens in the name are replaced by underscores.
 */
export const PROJECTION_NAMES = [
  'users',
  'credentials',
  'tokens',
  'redemptions',
  'channels',
  'channel-checks',
  'options',
  'option-changes',
  'price-history',
  'price-schedule',
  'balances',
  'notifications',
  'messages',
  'orders',
  'tasks',
  'call-log',
  'usage-by-hour',
  'open-calls',
  'open-tasks',
  'channel-health',
  'channel-stats',
  'channel-timeline',
] as const

export type ProjectionName = (typeof PROJECTION_NAMES)[number]

/** Returns the Postgres schema that contains a projection's tables. */
export const schemaOf = (name: ProjectionName): string => `read_${name.replaceAll('-', '_')}`
