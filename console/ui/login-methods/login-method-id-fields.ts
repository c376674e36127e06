import type { LoginMethod } from '#console/ui/login-methods/login-methods.ts'
import type { User } from '#read-api/contract/users.ts'

/**
 * The fields of a user that contain the user's account ids at other sites, by login method. A field
 * is empty if the user has not connected an account.
 */
export const LOGIN_METHOD_ID_FIELDS = {
  github: 'github_id',
  oidc: 'oidc_id',
  linuxdo: 'linux_do_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
} as const satisfies Record<LoginMethod, keyof User>
