import { FLAG, SECRET, text, URL_TEXT } from '../option-type.ts'
import type { OptionRow, OptionSection } from '../schema.ts'

/** What every way in by another site has: a switch, an id and a secret. */
const client = (
  site: string,
  keys: { readonly flag: string; readonly id: string; readonly secret: string },
): readonly OptionRow[] => [
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

const endpoint = (key: string, zh: string, en: string, preset = ''): OptionRow => ({
  key,
  type: URL_TEXT,
  preset,
  access: 'root',
  label: { zh, en },
  // The browser goes to the other one by itself.
  ...(key.endsWith('.authorization_endpoint') ? {} : { isAsked: true as const }),
})

/** Where the site is: an installation of one's own has other addresses than the public one. */
const endpointsOf = (
  site: string,
  prefix: string,
  presets: { readonly authorize: string; readonly token: string; readonly user: string },
): readonly OptionRow[] => [
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
