import type { OptionDefinition, OptionSection } from '../option-definition.ts'
import { FLAG, lines, SECRET, text, URL_TEXT } from '../option-type.ts'

export const LOGIN: OptionSection = {
  id: 'login',
  tab: 'system',
  title: { zh: '登录与注册', en: 'Login and registration' },
  lead: { zh: '谁可以进入本站。', en: 'Who may come in.' },
  options: [
    {
      key: 'PasswordLoginEnabled',
      type: FLAG,
      preset: 'true',
      access: 'root',
      label: { zh: '允许通过密码登录', en: 'Log in by password' },
      askBefore: {
        value: 'false',
        words: {
          zh: '取消密码登录将导致所有未绑定其他登录方式的用户（包括管理员）无法登录，确认取消？',
          en: 'Users and admins without another login method can no longer log in. Turn it off?',
        },
      },
    },
    {
      key: 'RegisterEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '允许新用户注册', en: 'Registration' },
    },
    {
      key: 'PasswordRegisterEnabled',
      type: FLAG,
      preset: 'true',
      label: { zh: '允许通过密码注册', en: 'Register by password' },
    },
    {
      key: 'EmailVerificationEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '通过密码注册时需要邮箱验证', en: 'Verify the mail address at registration' },
    },
    {
      key: 'EmailDomainRestrictionEnabled',
      type: FLAG,
      preset: 'false',
      label: { zh: '启用邮箱域名白名单', en: 'Only some mail domains' },
    },
    {
      key: 'EmailDomainWhitelist',
      type: lines(20_000),
      preset: '',
      label: { zh: '允许的邮箱域名', en: 'Mail domains that may register' },
      help: { zh: '每行一个，例如 example.com。', en: 'One a line, as example.com.' },
    },
  ],
}

/** Returns the options that each OAuth provider has: a switch, a client id and a client secret. */
const client = (
  site: string,
  keys: { readonly flag: string; readonly id: string; readonly secret: string },
): readonly OptionDefinition[] => [
  {
    key: keys.flag,
    type: FLAG,
    preset: 'false',
    access: 'root',
    label: { zh: `允许通过 ${site} 登录与注册`, en: `Log in by ${site}` },
  },
  {
    key: keys.id,
    type: text(200),
    preset: '',
    access: 'root',
    label: { zh: `${site} Client ID`, en: `${site} client id` },
  },
  {
    key: keys.secret,
    type: SECRET,
    preset: '',
    access: 'secret',
    label: { zh: `${site} Client Secret`, en: `${site} client secret` },
  },
]

const endpoint = (key: string, zh: string, en: string, preset = ''): OptionDefinition => ({
  key,
  type: URL_TEXT,
  preset,
  access: 'root',
  label: { zh, en },
  // The user's browser, not this server, opens the authorization endpoint.
  ...(key.endsWith('.authorization_endpoint') ? {} : { isOutboundAddress: true as const }),
})

/**
 * The addresses of a provider's endpoints, which the admin of a self-hosted provider must change.
 */
const endpointsOf = (
  site: string,
  prefix: string,
  presets: { readonly authorize: string; readonly token: string; readonly user: string },
): readonly OptionDefinition[] => [
  endpoint(
    `${prefix}.authorization_endpoint`,
    `${site} 授权地址`,
    `${site} authorization address`,
    presets.authorize,
  ),
  endpoint(`${prefix}.token_endpoint`, `${site} 令牌地址`, `${site} token address`, presets.token),
  endpoint(
    `${prefix}.user_info_endpoint`,
    `${site} 用户信息地址`,
    `${site} account address`,
    presets.user,
  ),
]

const callback = (path: string) => ({
  zh: `回调地址为服务器地址加 ${path}。`,
  en: `The callback is this site’s address with ${path}.`,
})

export const GITHUB: OptionSection = {
  id: 'github',
  tab: 'system',
  title: { zh: 'GitHub 登录', en: 'GitHub login' },
  lead: callback('/oauth/github'),
  options: [
    ...client('GitHub', {
      flag: 'GitHubOAuthEnabled',
      id: 'GitHubClientId',
      secret: 'GitHubClientSecret',
    }),
    ...endpointsOf('GitHub', 'github', {
      authorize: 'https://github.com/login/oauth/authorize',
      token: 'https://github.com/login/oauth/access_token',
      user: 'https://api.github.com/user',
    }),
  ],
}

export const LINUXDO: OptionSection = {
  id: 'linuxdo',
  tab: 'system',
  title: { zh: 'LinuxDO 登录', en: 'LinuxDO login' },
  lead: callback('/oauth/linuxdo'),
  options: [
    ...client('LinuxDO', {
      flag: 'LinuxDOOAuthEnabled',
      id: 'LinuxDOClientId',
      secret: 'LinuxDOClientSecret',
    }),
    ...endpointsOf('LinuxDO', 'linuxdo', {
      authorize: 'https://connect.linux.do/oauth2/authorize',
      token: 'https://connect.linux.do/oauth2/token',
      user: 'https://connect.linux.do/api/user',
    }),
  ],
}

export const OIDC: OptionSection = {
  id: 'oidc',
  tab: 'system',
  title: { zh: 'OIDC 登录', en: 'OIDC login' },
  lead: callback('/oauth/oidc'),
  options: [
    ...client('OIDC', {
      flag: 'oidc.enabled',
      id: 'oidc.client_id',
      secret: 'oidc.client_secret',
    }),
    {
      ...endpoint('oidc.well_known', 'OIDC Well-Known 地址', 'OIDC discovery address'),
      help: {
        zh: '必填，以 /.well-known/openid-configuration 结尾；下面的端点留空即采用其中的地址。',
        en: 'Needed; ends in /.well-known/openid-configuration. Endpoints left empty are its own.',
      },
    },
    endpoint('oidc.authorization_endpoint', 'OIDC 授权端点', 'OIDC authorization endpoint'),
    endpoint('oidc.token_endpoint', 'OIDC 令牌端点', 'OIDC token endpoint'),
    endpoint('oidc.user_info_endpoint', 'OIDC 用户信息端点', 'OIDC user info endpoint'),
  ],
}

export const TURNSTILE: OptionSection = {
  id: 'turnstile',
  tab: 'system',
  title: { zh: 'Turnstile 人机验证', en: 'Turnstile human check' },
  lead: { zh: '用于注册、登录与密码重置。', en: 'At registration, login and password reset.' },
  options: [
    {
      key: 'TurnstileCheckEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '启用 Turnstile 用户校验', en: 'Check that visitors are human' },
      help: {
        zh: '填好 Site Key 与 Secret Key 之后才会生效；无法校验时一律拒绝。',
        en: 'In force once both keys are set; what can not be verified is refused.',
      },
    },
    {
      key: 'TurnstileSiteKey',
      type: text(200),
      preset: '',
      access: 'root',
      label: { zh: 'Turnstile Site Key', en: 'Turnstile site key' },
    },
    {
      key: 'TurnstileSecretKey',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'Turnstile Secret Key', en: 'Turnstile secret key' },
    },
    {
      key: 'TurnstileVerifyURL',
      type: URL_TEXT,
      isOutboundAddress: true,
      preset: '',
      access: 'root',
      label: { zh: 'Turnstile 校验地址', en: 'Address that verifies' },
      help: {
        zh: '留空则使用官方 siteverify 地址。',
        en: 'Empty: the provider’s own siteverify address.',
      },
    },
  ],
}

export const TELEGRAM: OptionSection = {
  id: 'telegram',
  tab: 'system',
  title: { zh: 'Telegram 登录', en: 'Telegram login' },
  options: [
    {
      key: 'TelegramOAuthEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '允许通过 Telegram 登录', en: 'Log in by Telegram' },
    },
    {
      key: 'TelegramBotName',
      type: text(200),
      preset: '',
      access: 'root',
      label: { zh: 'Telegram Bot 名称', en: 'Telegram bot' },
    },
    {
      key: 'TelegramBotToken',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'Telegram Bot Token', en: 'Telegram bot token' },
    },
  ],
}

export const WECHAT: OptionSection = {
  id: 'wechat',
  tab: 'system',
  title: { zh: '微信登录', en: 'WeChat login' },
  options: [
    {
      key: 'WeChatAuthEnabled',
      type: FLAG,
      preset: 'false',
      access: 'root',
      label: { zh: '允许通过微信登录与注册', en: 'Log in by WeChat' },
    },
    {
      key: 'WeChatServerAddress',
      type: URL_TEXT,
      isOutboundAddress: true,
      preset: '',
      access: 'root',
      label: { zh: 'WeChat Server 地址', en: 'WeChat server' },
    },
    {
      key: 'WeChatServerToken',
      type: SECRET,
      preset: '',
      access: 'secret',
      label: { zh: 'WeChat Server 访问凭证', en: 'WeChat server token' },
    },
    {
      key: 'WeChatAccountQRCodeImageURL',
      type: URL_TEXT,
      preset: '',
      access: 'root',
      label: { zh: '微信公众号二维码图片链接', en: 'WeChat QR code' },
    },
  ],
}
