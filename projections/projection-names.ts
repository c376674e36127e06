/**
 * The names of all projections. The tables of a projection are in the Postgres schema
 * `read_<name>`, with underscores for hyphens.
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
  'ledger',
  'notifications',
  'messages',
  'orders',
  'tasks',
  'call-log',
  'usage-by-hour',
  'open-calls',
  'open-tasks',
  'open-batches',
  'channel-health',
  'channel-stats',
  'channel-timeline',
  'provider-mismatches',
  'audit-log',
  'reconciliation',
  'corrected-calls',
] as const

export type ProjectionName = (typeof PROJECTION_NAMES)[number]

export const schemaOf = (name: ProjectionName): string => `read_${name.replaceAll('-', '_')}`
