import type { Way } from '#console/ui/login-methods/login-methods.ts'
import type { User } from '#read-api/contract/users.ts'

/**
 * For each login method, the field of the user that contains the user's id at this login method.
 * The field is empty if the user has not connected the login method.
 */
export const IDS = {
  github: 'github_id',
  oidc: 'oidc_id',
  linuxdo: 'linux_do_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
} as const satisfies Record<Way, keyof User>
