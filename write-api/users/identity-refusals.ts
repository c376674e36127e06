import type { IdentityProvider } from '#domain/identity/events.ts'
import type { Words } from '#infra/http/language.ts'
import type { Refusals } from '../refusal-table.ts'

/** What actions refuse beside the domain. */
export type IdentityActionRefusalCode = 'ProviderBound' | 'MailIsUsername'

type Code =
  | IdentityActionRefusalCode
  | 'IdentityTaken'
  | 'IdentityChanged'
  | 'WaysInChanged'
  | 'LastWayIn'

export const IDENTITY_REFUSALS: Refusals<Code> = {
  IdentityTaken: [
    200,
    ({ provider }) => {
      const { zh, en } = providerNames(provider)
      return { zh: `该${zh}已被绑定`, en: `This ${en} is bound to another user` }
    },
  ],
  ProviderBound: [
    200,
    ({ provider }) => {
      const { zh, en } = providerNames(provider)
      return {
        zh: `您已绑定另一个${zh}，请先解绑`,
        en: `Another ${en} is bound to you: unbind it first`,
      }
    },
  ],
  MailIsUsername: [
    200,
    { zh: '该邮箱已是其他用户的用户名', en: 'This mail address is another user’s username' },
  ],
  IdentityChanged: [
    200,
    {
      zh: '绑定已发生变化，请刷新后重试',
      en: 'The binding has changed meanwhile: refresh and retry',
    },
  ],
  WaysInChanged: [
    200,
    {
      zh: '登录方式已发生变化，请刷新后重试',
      en: 'The ways to log in have changed meanwhile: refresh and retry',
    },
  ],
  LastWayIn: [
    200,
    {
      zh: '解绑后将无法登录，请先设置密码或绑定其他登录方式',
      en: 'You could not log in any more: set a password or bind another way in first',
    },
  ],
}

const NAMES: Record<IdentityProvider, Words> = {
  email: { zh: '邮箱地址', en: 'mail address' },
  github: { zh: ' GitHub 账户', en: 'GitHub account' },
  oidc: { zh: ' OIDC 账户', en: 'OIDC account' },
  linuxdo: { zh: ' LinuxDO 账户', en: 'LinuxDO account' },
  wechat: { zh: '微信账户', en: 'WeChat account' },
  telegram: { zh: ' Telegram 账户', en: 'Telegram account' },
}

/** What an identity is called within a sentence. */
const providerNames = (provider: unknown): Words =>
  Object.entries(NAMES).find(([name]) => name === provider)?.[1] ?? NAMES.email
