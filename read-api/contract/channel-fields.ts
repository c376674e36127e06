import { COST_RATIO_MAX, KEY_MODES } from '#domain/shared/channel-field-rules.ts'
import { type Fields, TIME_MAX } from './resource-field-definition.ts'

/**
 * The fields of a channel that admins set, without the name and the keys of the channel. These
 * fields are stored as requests send them. The stored events contain the same names in the same
 * order.
 */
export const CHANNEL_TERMS = {
  type: { wire: 'type', type: 'integer', min: 0, max: 1_000, initial: 1 },
  baseUrl: { wire: 'base_url', type: 'trimmedText', maxLength: 2_000, initial: '' },
  models: { wire: 'models', type: 'names', maxLength: 200_000, initial: [] },
  groups: { wire: 'group', type: 'names', maxLength: 20_000, initial: ['default'] },
  priority: {
    wire: 'priority',
    type: 'integer',
    min: -1_000_000_000,
    max: 1_000_000_000,
    initial: 0,
  },
  weight: { wire: 'weight', type: 'integer', min: 0, max: 1_000_000_000, initial: 0 },
  tag: { wire: 'tag', type: 'trimmedText', maxLength: 200, initial: '' },
  isAutoBan: { wire: 'auto_ban', type: 'numericFlag', initial: true },
  testModel: { wire: 'test_model', type: 'trimmedText', maxLength: 200, initial: '' },
  organization: { wire: 'openai_organization', type: 'trimmedText', maxLength: 200, initial: '' },
  other: { wire: 'other', type: 'trimmedText', maxLength: 20_000, initial: '' },
  modelPrefix: { wire: 'model_prefix', type: 'trimmedText', maxLength: 200, initial: '' },
  maxInputTokens: {
    wire: 'max_input_tokens',
    type: 'integer',
    min: 0,
    max: 100_000_000,
    initial: 0,
  },
  /** The expiry in Unix seconds, or -1 if the channel never expires. */
  expiredTime: {
    wire: 'expired_time',
    type: 'integer',
    min: -1,
    max: TIME_MAX,
    initial: -1,
  },
  /**
   * The maximum number of simultaneous calls. 0 means no limit. `maxRpm` limits the calls per
   * minute in the same way.
   */
  maxConcurrency: {
    wire: 'max_concurrency',
    type: 'integer',
    min: 0,
    max: 1_000_000,
    initial: 0,
  },
  maxRpm: { wire: 'max_rpm', type: 'integer', min: 0, max: 100_000_000, initial: 0 },
  modelMapping: { wire: 'model_mapping', type: 'trimmedText', maxLength: 100_000, initial: '' },
  statusCodeMapping: {
    wire: 'status_code_mapping',
    type: 'trimmedText',
    maxLength: 20_000,
    initial: '',
  },
  setting: { wire: 'setting', type: 'trimmedText', maxLength: 100_000, initial: '' },
  paramOverride: { wire: 'param_override', type: 'trimmedText', maxLength: 100_000, initial: '' },
} as const satisfies Fields

/** The fields of a channel, in the order of the responses. Times are in Unix seconds. */
export const CHANNEL_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  name: { wire: 'name', type: 'name', maxLength: 200, initial: '', isRequired: true },
  /** The provider's keys, one per line. Empty in responses, because nobody can read keys. */
  key: { wire: 'key', type: 'text', maxLength: 500_000, initial: '' },
  ...CHANNEL_TERMS,
  /** 1 is enabled, 2 disabled, 3 automatically disabled. */
  status: { wire: 'status', type: 'code', values: [1, 2, 3], access: 'read' },
  /**
   * A copy of `status`. If a client sends both fields back unchanged, the server keeps the current
   * status, which may have changed meanwhile.
   */
  expectedStatus: { wire: 'expected_status', type: 'integer', access: 'read', isOptional: true },
  /** The response time of the latest test in milliseconds, or 0. */
  responseTime: { wire: 'response_time', type: 'integer', access: 'read' },
  balance: { wire: 'balance', type: 'number', access: 'read' },
  usedQuota: { wire: 'used_quota', type: 'integer', access: 'read' },
  /**
   * JSON text with two members: `status_reason` is the reason for the channel's status, and
   * `status_time` is the time since which the channel has this status. Empty if there is no reason.
   */
  otherInfo: { wire: 'other_info', type: 'text', access: 'read' },
  testedAt: { wire: 'test_time', type: 'integer', access: 'read' },
  /** The error code of the latest test, or empty if the test succeeded. */
  testFailure: { wire: 'test_failure', type: 'text', access: 'read' },
  balanceReadAt: { wire: 'balance_updated_time', type: 'integer', access: 'read' },
  createdAt: { wire: 'created_time', type: 'integer', access: 'read' },
  /**
   * The price of the provider, as a multiple of the list price, with at most 6 decimal places. Null
   * means that the price is unknown.
   */
  costRatio: {
    wire: 'cost_ratio',
    type: 'nullableNumber',
    min: 0,
    max: COST_RATIO_MAX,
    initial: null,
  },
  /**
   * The rule by which the gateway chooses a key for a call if the channel has several keys: at
   * random, or one key after another. Empty for a channel with a single key.
   */
  keyMode: { wire: 'multi_key_mode', type: 'choice', values: KEY_MODES, initial: '' },
  keyCount: { wire: 'key_count', type: 'integer', access: 'read' },
} as const satisfies Fields

/** The server and the form in the console check mappings with the same functions. */
export { isStatusMapping, mappingError } from '#domain/shared/channel-field-rules.ts'
