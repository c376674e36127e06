import type { IdentityProvider } from '#domain/identity/events.ts'
import type { Words } from '#infra/http/language.ts'

const NAMES: Record<IdentityProvider, Words> = {
  email: { zh: '邮箱地址', en: 'mail address' },
  github: { zh: ' GitHub 账户', en: 'GitHub account' },
  oidc: { zh: ' OIDC 账户', en: 'OIDC account' },
  linuxdo: { zh: ' LinuxDO 账户', en: 'LinuxDO account' },
  wechat: { zh: '微信账户', en: 'WeChat account' },
  telegram: { zh: ' Telegram 账户', en: 'Telegram account' },
}

/** What an identity is called within a sentence. */
export const providerNames = (provider: unknown): Words =>
  Object.entries(NAMES).find(([name]) => name === provider)?.[1] ?? NAMES.email
