import { type Fields, writableFields } from './resource-field-definition.ts'

/** The settings that only the user can change. They have the same names as in the events. */
export const USER_SETTING_FIELDS = {
  /**
   * True if the user accepts calls of models without a price. They are charged at a fixed ratio
   * (`UNPRICED_RATIO`).
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
   * The email address. It is empty if the user has not bound one. The same applies to the provider
   * ids below.
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
   * A copy of `quota` for admins. A client that changes `quota` sends this copy back. If the
   * balance is no longer equal to the copy, the server rejects the change.
   */
  expectedQuota: { wire: 'expected_quota', type: 'integer', access: 'read', isOptional: true },
  usedQuota: { wire: 'used_quota', type: 'integer', access: 'read', isComputed: true },
  requestCount: { wire: 'request_count', type: 'integer', access: 'read', isComputed: true },
  /** 1 is a normal user, 10 an admin, 100 the super admin. */
  role: { wire: 'role', type: 'code', values: [1, 5, 10, 100], access: 'read' },
  /** 1 is active, 2 is banned. */
  status: { wire: 'status', type: 'code', values: [1, 2], access: 'read' },
  /** When the user was deactivated, or null. */
  deletedAt: { wire: 'DeletedAt', type: 'isoTime', access: 'read' },
  affCount: { wire: 'aff_count', type: 'integer', access: 'read', isComputed: true },
  affQuota: { wire: 'aff_quota', type: 'integer', access: 'read', isComputed: true },
  affHistoryQuota: { wire: 'aff_history_quota', type: 'integer', access: 'read', isComputed: true },
  inviterId: { wire: 'inviter_id', type: 'optionalInteger', absent: 0, access: 'read' },
  /** The user's settings as JSON text. */
  setting: { wire: 'setting', type: 'text', access: 'read', isComputed: true },
  createdAt: { wire: 'created_time', type: 'integer', access: 'read' },
  /** True if the user is deactivated and all personal texts are destroyed. */
  isErased: { wire: 'is_erased', type: 'flag', access: 'read' },
  /**
   * True if the user has a password. Otherwise, the user can set one without entering a current
   * password. Only the user's own data contains this field.
   */
  hasPassword: { wire: 'has_password', type: 'flag', access: 'read', isOptional: true },
  /**
   * True if the user has an authenticator app or a passkey, which an admin can remove. Only the
   * response for a single user contains this field, and only for admins.
   */
  hasSecondFactor: { wire: 'has_second_factor', type: 'flag', access: 'read', isOptional: true },
} as const satisfies Fields

export const USER_TERMS = writableFields(USER_FIELDS)
