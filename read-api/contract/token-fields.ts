import { type Fields, TIME_MAX } from './resource-field-definition.ts'

export const TOKEN_BATCH_MAX = 100

/**
 * The fields of a token that are stored as requests send them. The stored events contain the same
 * names.
 */
export const TOKEN_TERMS = {
  /** The group in which the token's calls are made. Empty means the group of the user. */
  group: { wire: 'group', type: 'text', maxLength: 200, initial: '' },
  /** The allowed IP addresses and networks, one per line. An empty text allows all addresses. */
  allowIps: { wire: 'allow_ips', type: 'encryptedText', maxLength: 20_000, initial: null },
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

/**
 * The limits on the number of calls, and on the number of successful calls, within a period. 0
 * means no limit.
 */
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

/**
 * The fields that change when a token is used or when time passes. Live messages contain only these
 * fields.
 */
export const TOKEN_STATE_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  /**
   * The name of the token. The maximum length includes the random suffix that names get if a
   * request creates several tokens.
   */
  name: { wire: 'name', type: 'name', maxLength: 100, initial: '', isRequired: true },
  /** 1 is enabled, 2 disabled, 3 expired, 4 exhausted. */
  status: { wire: 'status', type: 'code', values: [1, 2, 3, 4], access: 'read', isComputed: true },
  remainQuota: {
    wire: 'remain_quota',
    type: 'integer',
    min: Number.MIN_SAFE_INTEGER,
    max: Number.MAX_SAFE_INTEGER,
    initial: 500_000,
    isComputed: true,
  },
  usedQuota: { wire: 'used_quota', type: 'integer', access: 'read', isComputed: true },
  isUnlimited: { wire: 'unlimited_quota', type: 'flag', initial: false, isComputed: true },
  /**
   * The number of times that an admin or the owner has set the quota of the token. Calls do not
   * count.
   */
  budgetVersion: { wire: 'budget_version', type: 'integer', access: 'read', isComputed: true },
  /** The expiry in Unix seconds, or -1 if the token never expires. Requests must not contain 0. */
  expiredTime: {
    wire: 'expired_time',
    type: 'integer',
    min: -1,
    max: TIME_MAX,
    initial: -1,
    isComputed: true,
  },
  /** The time of the token's last call in Unix seconds, or 0 if there was none. */
  accessedAt: { wire: 'accessed_time', type: 'integer', access: 'read', isComputed: true },
} as const satisfies Fields

/** The fields of a token, except `RATE_LIMIT_FIELDS`. */
export const TOKEN_FIELDS = {
  ...TOKEN_STATE_FIELDS,
  /**
   * A copy of `remain_quota`. A client that changes `remain_quota` sends this copy back unchanged.
   * The server adds the difference between the two values to the current remaining quota. Quota
   * that was spent meanwhile therefore stays spent.
   */
  expectedRemainQuota: {
    wire: 'expected_remain_quota',
    type: 'integer',
    access: 'read',
    isOptional: true,
  },
  userId: { wire: 'user_id', type: 'integer', access: 'read' },
  /**
   * The key without `sk-`. Only requests with a session of the owner receive the complete key.
   * Requests with an access token receive asterisks and the last four characters.
   */
  key: { wire: 'key', type: 'text', access: 'read', isComputed: true },
  createdAt: { wire: 'created_time', type: 'integer', access: 'read' },
  hasModelLimits: {
    wire: 'model_limits_enabled',
    type: 'flag',
    initial: false,
    isComputed: true,
  },
  /** The names of the allowed models. */
  models: {
    wire: 'model_limits',
    type: 'names',
    maxLength: 100_000,
    initial: [],
    isComputed: true,
  },
  ...TOKEN_TERMS,
} as const satisfies Fields
