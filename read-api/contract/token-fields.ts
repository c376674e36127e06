import type { Fields } from './fields.ts'

/** The maximum length of a name in characters, including the suffix of a batch. */
export const TOKEN_NAME_MAX = 100
export const TOKEN_BATCH_MAX = 100
/** In quota units. */
export const TOKEN_REMAIN_INITIAL = 500_000

/**
 * The fields of a token that its owner may change and that are stored as they are sent. Each has
 * the name of its term in the token's events.
 */
export const TOKEN_FIELDS = {
  /** Empty for the user's own group. */
  group: { wire: 'group', type: 'text', maxLength: 200, initial: '' },
  /** IP addresses and networks, one on each line; empty allows every address. */
  allowIps: { wire: 'allow_ips', type: 'sealedText', maxLength: 20_000, initial: null },
  /** Model tokens of its calls in any minute; 0 means no limit. */
  tokensPerMinute: {
    wire: 'rate_limit_tpm',
    type: 'integer',
    min: 0,
    max: 1_000_000_000,
    initial: 0,
  },
  /** Concurrent calls; 0 means no limit. */
  maxConcurrency: { wire: 'max_concurrency', type: 'integer', min: 0, max: 100_000, initial: 0 },
} as const satisfies Fields

/** The fields of the term `rateLimit`: calls and successful calls per period; 0 means no limit. */
export const RATE_LIMIT_FIELDS = {
  isEnabled: { wire: 'rate_limit_enabled', type: 'flag', initial: false },
  periodSeconds: {
    wire: 'rate_limit_period',
    type: 'integer',
    min: 1,
    max: 31_536_000,
    initial: 60,
  },
  count: {
    wire: 'rate_limit_count',
    type: 'integer',
    min: 0,
    max: 1_000_000_000,
    initial: 1_000,
  },
  success: {
    wire: 'rate_limit_success',
    type: 'integer',
    min: 0,
    max: 1_000_000_000,
    initial: 10,
  },
} as const satisfies Fields
