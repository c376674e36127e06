import { type Fields, writableFields } from './resource-fields.ts'

/**
 * The fields of a redemption code, in the order in which responses contain them. Times are in Unix
 * seconds.
 */
export const REDEMPTION_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  name: { wire: 'name', type: 'name', maxLength: 200, initial: '', isRequired: true },
  /**
   * The key of the code. It is only returned to an admin who uses a session. It is empty if the
   * request uses an access token.
   */
  key: { wire: 'key', type: 'text', access: 'read', isComputed: true },
  /** The last four characters of the key. It is empty if the key is short. */
  keyHint: { wire: 'key_hint', type: 'text', access: 'read' },
  /** The quota that is credited each time the code is redeemed. */
  quota: {
    wire: 'quota',
    type: 'integer',
    min: -9_007_199_254_740_991,
    max: 9_007_199_254_740_991,
    initial: 0,
    isRequired: true,
  },
  /**
   * The status of the code: 1 is unused, 2 is disabled, 3 is used. A gift code stays unused when it
   * is redeemed, because other users can still redeem it.
   */
  status: { wire: 'status', type: 'code', values: [1, 2, 3], access: 'read' },
  createdAt: { wire: 'created_time', type: 'integer', access: 'read' },
  /** The last user who redeemed the code. It is 0 if no user has redeemed the code. */
  usedUserId: { wire: 'used_user_id', type: 'integer', access: 'read' },
  usedUsername: { wire: 'used_username', type: 'text', access: 'read' },
  /** The time of the last redemption. It is 0 if the code was never redeemed. */
  redeemedAt: { wire: 'redeemed_time', type: 'integer', access: 'read' },
  /** Set for a gift code. Several users can redeem a gift code, each user once. */
  isGift: { wire: 'is_gift', type: 'flag', initial: false },
  /**
   * The maximum number of times that the code can be redeemed. null means no limit. A code that is
   * not a gift has 1.
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
  /** The time from which the code is valid. It is null if the code is valid immediately. */
  validFrom: { wire: 'valid_from', type: 'time', initial: null },
  /** The time at which the code expires. It is null if the code never expires. */
  validUntil: { wire: 'valid_until', type: 'time', initial: null },
} as const satisfies Fields

/**
 * The fields of a code that an admin can set. Their names and their order are the same as in the
 * stored events.
 */
export const REDEMPTION_TERMS = writableFields(REDEMPTION_FIELDS)
