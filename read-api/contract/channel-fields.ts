import type { Fields } from './resource-field-definition.ts'

/** The maximum number of characters in a channel's name, and in all of its keys together. */
export const CHANNEL_NAME_MAX = 200
export const CHANNEL_KEYS_MAX = 500_000

/**
 * The fields are stored as requests send them. Their names and their order are those of the stored
 * events.
 */
export const CHANNEL_FIELDS = {
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
    max: 253_402_300_799,
    initial: -1,
  },
  /** The maximum number of simultaneous calls, and of calls per minute. 0 means no limit. */
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

/** The server and the console's form share the rules for mappings. */
export { isStatusMapping, mappingError } from '#domain/shared/check-channel-mappings.ts'
