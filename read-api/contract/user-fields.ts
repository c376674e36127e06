import { type Fields, writableFields } from './resource-field-definition.ts'

/**
 * The settings that only users themselves can change, with the same names as in the stored events.
 */
export const USER_SETTING_FIELDS = {
  /**
   * True if the user accepts calls to models without a price. Such calls are charged at a fixed
   * ratio (`UNPRICED_RATIO`).
   */
  acceptUnsetModelRatioModel: {
    wire: 'accept_unset_model_ratio_model',
    type: 'flag',
    initial: false,
  },
  showIpInLogs: { wire: 'show_ip_in_logs', type: 'flag', initial: false },
} as const satisfies Fields

/** The fields of a user, in the order of the responses. Times are in Unix seconds. */
export const USER_FIELDS = {
  id: { wire: 'id', type: 'integer', access: 'read' },
  username: { wire: 'username', type: 'text', access: 'read' },
  displayName: { wire: 'display_name', type: 'text', maxLength: 200, initial: '' },
  /**
   * The user's email address. Empty if the user has none. The ids in the following fields are the
   * ids of the user's accounts at other sites. The user can log in with these accounts. An id is
   * empty if the user has not connected such an account.
   */
  email: { wire: 'email', type: 'text', access: 'read' },
  githubId: { wire: 'github_id', type: 'text', access: 'read' },
  oidcId: { wire: 'oidc_id', type: 'text', access: 'read' },
  wechatId: { wire: 'wechat_id', type: 'text', access: 'read' },
  telegramId: { wire: 'telegram_id', type: 'text', access: 'read' },
  linuxDoId: { wire: 'linux_do_id', type: 'text', access: 'read' },
  group: { wire: 'group', type: 'text', maxLength: 200, initial: '' },
  quota: { wire: 'quota', type: 'integer', access: 'read', isComputed: true },
  /**
   * A copy of `quota` for admins. A client that changes `quota` sends this copy back unchanged. If
   * the balance has changed meanwhile, the server rejects the request.
   */
  expectedQuota: { wire: 'expected_quota', type: 'integer', access: 'read', isOptional: true },
  usedQuota: { wire: 'used_quota', type: 'integer', access: 'read', isComputed: true },
  requestCount: { wire: 'request_count', type: 'integer', access: 'read', isComputed: true },
  /** 1 is a normal user, 5 an auditor, 10 an admin, 100 the super admin. */
  role: { wire: 'role', type: 'code', values: [1, 5, 10, 100], access: 'read' },
  /** 1 is active, 2 is banned. */
  status: { wire: 'status', type: 'code', values: [1, 2], access: 'read' },
  /** The time at which the user was deactivated, or null if the user is not deactivated. */
  deletedAt: { wire: 'DeletedAt', type: 'isoTime', access: 'read' },
  affCount: { wire: 'aff_count', type: 'integer', access: 'read', isComputed: true },
  affQuota: { wire: 'aff_quota', type: 'integer', access: 'read', isComputed: true },
  affHistoryQuota: { wire: 'aff_history_quota', type: 'integer', access: 'read', isComputed: true },
  inviterId: { wire: 'inviter_id', type: 'optionalInteger', absent: 0, access: 'read' },
  /** The user's settings as JSON text. */
  setting: { wire: 'setting', type: 'text', access: 'read', isComputed: true },
  createdAt: { wire: 'created_time', type: 'integer', access: 'read' },
  /** True if the user is deactivated and all personal texts have been made unreadable. */
  isErased: { wire: 'is_erased', type: 'flag', access: 'read' },
  /**
   * True if the user has a password. A user without a password can set one without entering a
   * current password. Only the user's own data contains this field.
   */
  hasPassword: { wire: 'has_password', type: 'flag', access: 'read', isOptional: true },
  /**
   * True if the user has an authenticator app or a passkey, which an admin can remove. Only the
   * response for a single user contains this field, and only for admins.
   */
  hasSecondFactor: { wire: 'has_second_factor', type: 'flag', access: 'read', isOptional: true },
} as const satisfies Fields

export const USER_TERMS = writableFields(USER_FIELDS)
