import type { Way } from '#console/ui/ways-in/ways.ts'
import type { User } from '#read-api/contract/users.ts'

/** Maps each login method to the user field with the bound account; an unbound field is empty. */
export const IDS = {
  github: 'github_id',
  oidc: 'oidc_id',
  linuxdo: 'linux_do_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
} as const satisfies Record<Way, keyof User>
