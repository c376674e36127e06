import type { Status } from '#read-api/contract/status.ts'
import type { OAuthType } from '#write-api/contract/oauth.ts'
import type { IconName } from '../elements/icons.tsx'

/** The login methods that use an account on another site. */
export type Way = OAuthType | 'wechat' | 'telegram'

export const WAYS: readonly Way[] = ['github', 'oidc', 'linuxdo', 'wechat', 'telegram']

export const WAY_ICONS: Readonly<Record<Way, IconName>> = {
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
} as const satisfies Record<Way, keyof Status>

export const isOpen = (status: Status | undefined, way: Way): boolean =>
  status?.[FLAGS[way]] === true
