import type { Status } from '#read-api/contract/status.ts'
import type { User } from '#read-api/contract/users.ts'
import type { OAuthType } from '#write-api/contract/oauth.ts'
import type { IconName } from '../elements/icons.tsx'

/** The login methods with an account of another site. */
export type ExternalLoginMethod = OAuthType | 'wechat' | 'telegram'

export const EXTERNAL_LOGIN_METHODS: readonly ExternalLoginMethod[] = [
  'github',
  'oidc',
  'linuxdo',
  'wechat',
  'telegram',
]

export const EXTERNAL_LOGIN_ICONS: Readonly<Record<ExternalLoginMethod, IconName>> = {
  github: 'branch',
  oidc: 'key',
  linuxdo: 'users',
  wechat: 'chat',
  telegram: 'send',
}

const FLAGS = {
  github: 'github_oauth',
  oidc: 'oidc_enabled',
  linuxdo: 'linuxdo_oauth',
  wechat: 'wechat_login',
  telegram: 'telegram_oauth',
} as const satisfies Record<ExternalLoginMethod, keyof Status>

export const isExternalLoginMethodEnabled = (
  status: Status | undefined,
  method: ExternalLoginMethod,
): boolean => status?.[FLAGS[method]] === true

/**
 * The fields of a user that contain the user's account ids at other sites, by login method. A field
 * is empty if the user has not connected an account.
 */
export const EXTERNAL_ID_FIELDS = {
  github: 'github_id',
  oidc: 'oidc_id',
  linuxdo: 'linux_do_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
} as const satisfies Record<ExternalLoginMethod, keyof User>
