import { type Fields, writableFields } from './resource-field-definition.ts'

export { REDEMPTION_NAME_MAX } from '#domain/shared/check-characters.ts'

/** The maximum number of codes that one request creates. */
export const REDEMPTION_COUNT_MAX = 100
/** The maximum length of a custom key, in characters. */
export const REDEMPTION_KEY_MAX = 64

/** The fields are in the order of the responses. Times are in Unix seconds. */
export const REDEMPTION_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  /**
   * The schema accepts names that are longer than `REDEMPTION_NAME_MAX`. The domain rejects them
   * with `RedemptionNameLength`, which names the limit. A violation of the schema would be reported
   * as a malformed request. In addition, clients can send back a row with an older, longer name.
   */
  name: { wire: 'name', type: 'name', maxLength: 200, initial: '', isRequired: true },
  /** The complete key. Only admins with a session receive it. With an access token, it is empty. */
  key: { wire: 'key', type: 'text', access: 'read', isComputed: true },
  /** The last four characters of the key. It is empty for a short key. */
  keyHint: { wire: 'key_hint', type: 'text', access: 'read' },
  /** The quota that each redemption credits. */
  quota: {
    wire: 'quota',
    type: 'integer',
    min: -9_007_199_254_740_991,
    max: 9_007_199_254_740_991,
    initial: 0,
    isRequired: true,
  },
  /**
   * 1 is unused, 2 is disabled, and 3 is used. A gift stays unused, because other users can still
   * redeem it.
   */
  status: { wire: 'status', type: 'code', values: [1, 2, 3], access: 'read' },
  createdAt: { wire: 'created_time', type: 'integer', access: 'read' },
  /** The last user who redeemed the code, or 0. */
  usedUserId: { wire: 'used_user_id', type: 'integer', access: 'read' },
  usedUsername: { wire: 'used_username', type: 'text', access: 'read' },
  /** The time of the last redemption, or 0. */
  redeemedAt: { wire: 'redeemed_time', type: 'integer', access: 'read' },
  /** True if several users can redeem the code. Each of them can redeem it once. */
  isGift: { wire: 'is_gift', type: 'flag', initial: false },
  /**
   * The maximum number of redemptions. null means no limit. It is 1 for a code that is not a gift.
   */
  maxUses: {
    wire: 'max_uses',
    type: 'optionalInteger',
    min: -1,
    max: 1_000_000_000,
    absent: -1,
    initial: 1,
  },
  usedCount: { wire: 'used_count', type: 'integer', access: 'read' },
  /** The time from which the code is valid, or null. */
  validFrom: { wire: 'valid_from', type: 'time', initial: null },
  /** The time at which the code expires, or null. */
  validUntil: { wire: 'valid_until', type: 'time', initial: null },
} as const satisfies Fields

/** The fields that an admin can set. Their names and their order are those of the stored events. */
export const REDEMPTION_TERMS = writableFields(REDEMPTION_FIELDS)
