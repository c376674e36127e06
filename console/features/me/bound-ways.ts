import type { Way } from '#console/ui/ways-in/ways.ts'
import type { User } from '#read-api/contract/users.ts'

/** The user field with the bound account id of each site; the field is empty if none is bound. */
export const IDS = {
  github: 'github_id',
  oidc: 'oidc_id',
  linuxdo: 'linux_do_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
} as const satisfies Record<Way, keyof User>
