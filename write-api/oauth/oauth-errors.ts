import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { type ErrorCatalogue, errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'

const OAUTH_ERRORS = {
  WayInClosed: [
    200,
    ({ provider }) => {
      const { zh, en } = providerName(provider)
      return {
        zh: `管理员未开启通过${zh}登录以及注册`,
        en: `The administrator has not enabled login with ${en}`,
      }
    },
  ],
  OAuthNotSetUp: [
    200,
    ({ provider }) => {
      const { zh, en } = providerName(provider)
      return {
        zh: `${zh}登录尚未配置完整，请联系管理员`.trim(),
        en: `Login with ${en} is not fully configured. Contact the administrator`,
      }
    },
  ],
  OAuthStateInvalid: [
    200,
    {
      zh: '授权状态无效或已过期，请重新发起登录或绑定',
      en: 'This authorisation is no longer valid. Start again',
    },
  ],
  OAuthFailed: [
    200,
    ({ provider }) => {
      const { zh, en } = providerName(provider)
      return {
        zh: `无法通过${zh}确认您的身份，请稍后重试！`,
        en: `${en} could not confirm your identity. Try again later`,
      }
    },
  ],
  OAuthOther: [
    200,
    ({ provider }) => {
      const { zh, en } = providerName(provider)
      return {
        zh: `当前的${zh}账户不属于您的账户，未重新登录`,
        en: `You are signed in to ${en} with another account. Nothing was changed`,
      }
    },
  ],
  WeChatCodeWrong: [200, { zh: '验证码错误或已过期', en: 'The code is wrong or has expired' }],
  TelegramInvalid: [
    200,
    {
      zh: 'Telegram 授权无效或已过期，请重新授权',
      en: 'The Telegram authorisation is invalid or has expired. Authorise again',
    },
  ],
  NoFreeUsername: [
    200,
    { zh: '暂时无法分配用户名，请稍后重试', en: 'No username could be assigned. Try again later' },
  ],
} satisfies ErrorCatalogue<string>

export const oauthError = errorsOf(OAUTH_ERRORS)

const PROVIDER_NAMES: Readonly<Record<string, TranslatedText>> = {
  github: { zh: ' GitHub ', en: 'GitHub' },
  oidc: { zh: ' OIDC ', en: 'OIDC' },
  linuxdo: { zh: ' LinuxDO ', en: 'LinuxDO' },
  wechat: { zh: '微信', en: 'WeChat' },
  telegram: { zh: ' Telegram ', en: 'Telegram' },
}

const providerName = (provider: unknown): TranslatedText =>
  Object.entries(PROVIDER_NAMES).find(([name]) => name === provider)?.[1] ?? {
    zh: '',
    en: 'this site',
  }
