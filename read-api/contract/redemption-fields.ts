import { type Fields, writableFields } from './resource-fields.ts'

/** The fields of a redemption code in the order of the responses. Times are in Unix seconds. */
export const REDEMPTION_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  name: { wire: 'name', type: 'name', maxLength: 200, initial: '', isRequired: true },
  /** The key. It is only shown in an admin's session, and is empty for an access token. */
  key: { wire: 'key', type: 'text', access: 'read', isComputed: true },
  /** The last four characters of the key. It is empty for a short key. */
  keyHint: { wire: 'key_hint', type: 'text', access: 'read' },
  /** The quota that each use credits. */
  quota: {
    wire: 'quota',
    type: 'integer',
    min: -9_007_199_254_740_991,
    max: 9_007_199_254_740_991,
    initial: 0,
    isRequired: true,
  },
  /**
   * The status: 1 unused, 2 disabled, 3 used. A gift code stays unused after a redemption, because
   * it can be redeemed again.
   */
  status: { wire: 'status', type: 'code', values: [1, 2, 3], access: 'read' },
  createdAt: { wire: 'created_time', type: 'integer', access: 'read' },
  /** The last user who redeemed the code. 0 means that no user has redeemed it. */
  usedUserId: { wire: 'used_user_id', type: 'integer', access: 'read' },
  usedUsername: { wire: 'used_username', type: 'text', access: 'read' },
  /** The time of the last redemption. 0 means that the code was never redeemed. */
  redeemedAt: { wire: 'redeemed_time', type: 'integer', access: 'read' },
  /** Set for a gift code, which several users can redeem, once each. */
  isGift: { wire: 'is_gift', type: 'flag', initial: false },
  /** The maximum number of uses. null means no limit. It is 1 unless the code is a gift. */
  maxUses: {
    wire: 'max_uses',
    type: 'optionalInteger',
    min: -1,
    max: 1_000_000_000,
    absent: -1,
    initial: 1,
  },
  usedCount: { wire: 'used_count', type: 'integer', access: 'read' },
  /** The time from which the code is valid. null means that it is valid immediately. */
  validFrom: { wire: 'valid_from', type: 'time', initial: null },
  /** The time at which the code expires. null means that it never expires. */
  validUntil: { wire: 'valid_until', type: 'time', initial: null },
} as const satisfies Fields

/** The terms of a code. They have the names and the order of the stored events. */
export const REDEMPTION_TERMS = writableFields(REDEMPTION_FIELDS)
