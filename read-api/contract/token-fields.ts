import type { Fields } from './resource-field-definition.ts'

/** The maximum length in characters, including the suffix that tokens of a batch have. */
export const TOKEN_NAME_MAX = 100
export const TOKEN_BATCH_MAX = 100
/** The budget that the form suggests for a new token, in quota. */
export const TOKEN_REMAIN_INITIAL = 500_000

/**
 * The fields that the owner can change. The fields are stored as requests send them, named as in
 * the events.
 */
export const TOKEN_FIELDS = {
  /** The group of the token's calls. If it is empty, the group of the user applies. */
  group: { wire: 'group', type: 'text', maxLength: 200, initial: '' },
  /** One IP address or network per line. An empty text allows all addresses. */
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

/** The maximum number of calls and of successful calls per period. 0 means no limit. */
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
