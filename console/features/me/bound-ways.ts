import type { Way } from '#console/ui/ways-in/ways.ts'
import type { User } from '#read-api/contract/users.ts'

/** The user field that contains the bound account of each login method; empty if not bound. */
export const IDS = {
  github: 'github_id',
  oidc: 'oidc_id',
  linuxdo: 'linux_do_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
} as const satisfies Record<Way, keyof User>
