import { type Fields, writableFields } from './resource-field-definition.ts'

export { REDEMPTION_NAME_MAX } from '#domain/shared/check-characters.ts'

/** The maximum number of codes that one request creates. */
export const REDEMPTION_COUNT_MAX = 100
/** The maximum length of a custom key, in characters. */
export const REDEMPTION_KEY_MAX = 64

/** The fields of a redemption code, in the order of the responses. Times are in Unix seconds. */
export const REDEMPTION_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  /**
   * The schema accepts names that are longer than `REDEMPTION_NAME_MAX`, for two reasons. First,
   * the domain rejects longer names with the error `RedemptionNameLength`, which names the limit.
   * An error of the schema would look like a malformed request. Second, a client may send back a
   * row with a longer name that an older version allowed.
   */
  name: { wire: 'name', type: 'name', maxLength: 200, initial: '', isRequired: true },
  /**
   * The complete code that users enter. Only an admin with a session receives the code. Empty for
   * an admin with an access token.
   */
  key: { wire: 'key', type: 'text', access: 'read', isComputed: true },
  /** The last four characters of the code. Empty for a short code. */
  keyHint: { wire: 'key_hint', type: 'text', access: 'read' },
  /** The quota that a user gets for redeeming the code. */
  quota: {
    wire: 'quota',
    type: 'integer',
    min: -9_007_199_254_740_991,
    max: 9_007_199_254_740_991,
    initial: 0,
    isRequired: true,
  },
  /**
   * 1 is unused, 2 is disabled, and 3 is used. A code with `is_gift` never gets the status 3, even
   * if it has been redeemed `max_uses` times.
   */
  status: { wire: 'status', type: 'code', values: [1, 2, 3], access: 'read' },
  createdAt: { wire: 'created_time', type: 'integer', access: 'read' },
  /** The user who redeemed the code last, or 0 if nobody did. */
  usedUserId: { wire: 'used_user_id', type: 'integer', access: 'read' },
  usedUsername: { wire: 'used_username', type: 'text', access: 'read' },
  /** The time at which the code was redeemed last, or 0 if nobody has redeemed the code. */
  redeemedAt: { wire: 'redeemed_time', type: 'integer', access: 'read' },
  /** True if several users can redeem the code. Each user can redeem the code once. */
  isGift: { wire: 'is_gift', type: 'flag', initial: false },
  /**
   * The number of times that the code can be redeemed in total: 1 for a code without `is_gift`.
   * Null means no limit. Responses contain -1 instead of null.
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
  /** The time from which the code can be redeemed. Null means at once. */
  validFrom: { wire: 'valid_from', type: 'time', initial: null },
  /** The time at which the code expires. Null means never. */
  validUntil: { wire: 'valid_until', type: 'time', initial: null },
} as const satisfies Fields

/**
 * The terms of a redemption code: the fields that an admin can set. The stored events contain the
 * same names in the same order.
 */
export const REDEMPTION_TERMS = writableFields(REDEMPTION_FIELDS)
