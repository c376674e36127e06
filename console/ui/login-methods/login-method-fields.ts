import type { LoginMethod } from '#console/ui/login-methods/login-methods.ts'
import type { User } from '#read-api/contract/users.ts'

/**
 * The fields of a user that contain the ids at other sites. A field is empty if the login method is
 * not connected.
 */
export const LOGIN_METHOD_ID_FIELDS = {
  github: 'github_id',
  oidc: 'oidc_id',
  linuxdo: 'linux_do_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
} as const satisfies Record<LoginMethod, keyof User>
