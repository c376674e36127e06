import type { OptionDefinition, OptionSection } from '../option-definition.ts'
import { FLAG, lines, SECRET, text, URL_TEXT } from '../option-type.ts'

export const LOGIN: OptionSection = {
  id: 'login',
  tab: 'system',
  options: [
    { key: 'PasswordLoginEnabled', type: FLAG, preset: 'true', access: 'root' },
    { key: 'RegisterEnabled', type: FLAG, preset: 'true' },
    { key: 'PasswordRegisterEnabled', type: FLAG, preset: 'true' },
    { key: 'EmailVerificationEnabled', type: FLAG, preset: 'false' },
    { key: 'EmailDomainRestrictionEnabled', type: FLAG, preset: 'false' },
    { key: 'EmailDomainWhitelist', type: lines(20_000), preset: '' },
  ],
}

/** Returns the options that each OAuth provider has: a switch, a client id and a client secret. */
const oauthClient = (keys: {
  readonly flag: string
  readonly id: string
  readonly secret: string
}): readonly OptionDefinition[] => [
  { key: keys.flag, type: FLAG, preset: 'false', access: 'root' },
  { key: keys.id, type: text(200), preset: '', access: 'root' },
  { key: keys.secret, type: SECRET, preset: '', access: 'secret' },
]

const endpoint = (key: string, preset = ''): OptionDefinition => ({
  key,
  type: URL_TEXT,
  preset,
  access: 'root',
  // The user's browser, not this server, opens the authorization endpoint.
  ...(key.endsWith('.authorization_endpoint') ? {} : { isOutboundAddress: true as const }),
})

/**
 * Returns the options with the addresses of a provider's endpoints. If the provider is self-hosted,
 * the admin must change the addresses.
 */
const endpointsOf = (
  prefix: string,
  presets: { readonly authorize: string; readonly token: string; readonly user: string },
): readonly OptionDefinition[] => [
  endpoint(`${prefix}.authorization_endpoint`, presets.authorize),
  endpoint(`${prefix}.token_endpoint`, presets.token),
  endpoint(`${prefix}.user_info_endpoint`, presets.user),
]

export const GITHUB: OptionSection = {
  id: 'github',
  tab: 'system',
  options: [
    ...oauthClient({
      flag: 'GitHubOAuthEnabled',
      id: 'GitHubClientId',
      secret: 'GitHubClientSecret',
    }),
    ...endpointsOf('github', {
      authorize: 'https://github.com/login/oauth/authorize',
      token: 'https://github.com/login/oauth/access_token',
      user: 'https://api.github.com/user',
    }),
  ],
}

export const LINUXDO: OptionSection = {
  id: 'linuxdo',
  tab: 'system',
  options: [
    ...oauthClient({
      flag: 'LinuxDOOAuthEnabled',
      id: 'LinuxDOClientId',
      secret: 'LinuxDOClientSecret',
    }),
    ...endpointsOf('linuxdo', {
      authorize: 'https://connect.linux.do/oauth2/authorize',
      token: 'https://connect.linux.do/oauth2/token',
      user: 'https://connect.linux.do/api/user',
    }),
  ],
}

export const OIDC: OptionSection = {
  id: 'oidc',
  tab: 'system',
  options: [
    ...oauthClient({
      flag: 'oidc.enabled',
      id: 'oidc.client_id',
      secret: 'oidc.client_secret',
    }),
    endpoint('oidc.well_known'),
    endpoint('oidc.authorization_endpoint'),
    endpoint('oidc.token_endpoint'),
    endpoint('oidc.user_info_endpoint'),
  ],
}

export const TURNSTILE: OptionSection = {
  id: 'turnstile',
  tab: 'system',
  options: [
    { key: 'TurnstileCheckEnabled', type: FLAG, preset: 'false', access: 'root' },
    { key: 'TurnstileSiteKey', type: text(200), preset: '', access: 'root' },
    { key: 'TurnstileSecretKey', type: SECRET, preset: '', access: 'secret' },
    {
      key: 'TurnstileVerifyURL',
      type: URL_TEXT,
      isOutboundAddress: true,
      preset: '',
      access: 'root',
    },
  ],
}

export const TELEGRAM: OptionSection = {
  id: 'telegram',
  tab: 'system',
  options: [
    { key: 'TelegramOAuthEnabled', type: FLAG, preset: 'false', access: 'root' },
    { key: 'TelegramBotName', type: text(200), preset: '', access: 'root' },
    { key: 'TelegramBotToken', type: SECRET, preset: '', access: 'secret' },
  ],
}

export const WECHAT: OptionSection = {
  id: 'wechat',
  tab: 'system',
  options: [
    { key: 'WeChatAuthEnabled', type: FLAG, preset: 'false', access: 'root' },
    {
      key: 'WeChatServerAddress',
      type: URL_TEXT,
      isOutboundAddress: true,
      preset: '',
      access: 'root',
    },
    { key: 'WeChatServerToken', type: SECRET, preset: '', access: 'secret' },
    { key: 'WeChatAccountQRCodeImageURL', type: URL_TEXT, preset: '', access: 'root' },
  ],
}
