import type { Fields } from './resource-field-definition.ts'

/**
 * The maximum number of characters in a name. It includes the random suffix that a batch adds to
 * names.
 */
export const TOKEN_NAME_MAX = 100
export const TOKEN_BATCH_MAX = 100
/** The budget in quota that the form suggests for a new token. */
export const TOKEN_REMAIN_INITIAL = 500_000

/**
 * The fields that the owner can change. They are stored as requests send them, with the same names
 * as in the events.
 */
export const TOKEN_FIELDS = {
  /** The group in which the token's calls are made. If it is empty, the user's group applies. */
  group: { wire: 'group', type: 'text', maxLength: 200, initial: '' },
  /** The allowed IP addresses and networks, one per line. An empty text allows all addresses. */
  allowIps: { wire: 'allow_ips', type: 'sealedText', maxLength: 20_000, initial: null },
  /** The maximum number of model tokens per minute. 0 means no limit. */
  tokensPerMinute: {
    wire: 'rate_limit_tpm',
    type: 'integer',
    min: 0,
    max: 1_000_000_000,
    initial: 0,
  },
  /** The maximum number of simultaneous calls. 0 means no limit. */
  maxConcurrency: { wire: 'max_concurrency', type: 'integer', min: 0, max: 100_000, initial: 0 },
} as const satisfies Fields

/** The maximum number of calls, and of successful calls, in a period. 0 means no limit. */
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
