import Type, { type Static } from 'typebox'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'
import { SessionUser } from '#read-api/contract/users.ts'
import { LoginResult, SecondFactorRequired } from './login.ts'

/** The login providers that redirect the browser back to this site with a code. */
export const OAuthType = Type.Union([
  Type.Literal('github'),
  Type.Literal('oidc'),
  Type.Literal('linuxdo'),
])
export type OAuthType = Static<typeof OAuthType>

const SHORT = Type.String({ maxLength: 200 })

/**
 * The purpose for which the browser is sent to the provider. `login` signs a user in, `bind` binds
 * the identity at the provider to the current user, and `anew` confirms who the current user is.
 * The default is `bind` with a session and `login` without a session. `aff` is the inviter's code.
 */
const Purpose = {
  aff: Type.Optional(SHORT),
  intent: Type.Optional(
    Type.Union([Type.Literal('login'), Type.Literal('bind'), Type.Literal('anew')]),
  ),
}

export const StateQuery = Type.Object(Purpose)
export type StateQuery = Static<typeof StateQuery>

export const AuthorizeQuery = Type.Object({ type: OAuthType, ...Purpose })
export type AuthorizeQuery = Static<typeof AuthorizeQuery>

/** The URL of the provider to which the browser is redirected. */
const Authorize = Type.Object({ url: Type.String() })

const CallbackQuery = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 4_096 }),
  state: Type.String({ minLength: 1, maxLength: 200 }),
  /** The issuer, which some OIDC providers add to the callback (RFC 9207). */
  iss: Type.Optional(Type.String({ maxLength: 2_048 })),
})

/**
 * The response to a callback: the signed-in user, or a notice that a second factor is still
 * required. If the identity was bound to the current user, `data` is null and `message` is "bind".
 */
export const LoginOrBindResult = Type.Union([SessionUser, SecondFactorRequired, Type.Null()])
export type LoginOrBindResult = Static<typeof LoginOrBindResult>

const WeChatQuery = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 100 }),
  aff: Type.Optional(SHORT),
})

/**
 * The data that the Telegram widget returns. `state` is the state that was issued before the widget
 * was shown.
 */
export const TelegramQuery = Type.Object({
  id: Type.String({ pattern: '^[0-9]{1,20}$' }),
  first_name: Type.Optional(SHORT),
  last_name: Type.Optional(SHORT),
  username: Type.Optional(SHORT),
  photo_url: Type.Optional(Type.String({ maxLength: 1_000 })),
  auth_date: Type.String({ pattern: '^[0-9]{1,12}$' }),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  lang: Type.Optional(Type.String({ maxLength: 20 })),
  state: Type.Optional(SHORT),
})
export type TelegramQuery = Static<typeof TelegramQuery>

const Unbind = Type.Object({
  provider: Type.Union([
    Type.Literal('email'),
    Type.Literal('github'),
    Type.Literal('oidc'),
    Type.Literal('linuxdo'),
    Type.Literal('wechat'),
    Type.Literal('telegram'),
  ]),
})

export const oauthActions = {
  'GET /api/oauth/state': {
    summary: 'Issue a single-use state for an OAuth login, bound to this browser',
    querystring: StateQuery,
    response: { 200: Envelope(Type.String()) },
  },
  'GET /api/oauth/authorize': {
    summary: 'Get the URL of the provider’s sign-in page; sets a cookie for the callback',
    querystring: AuthorizeQuery,
    response: { 200: Envelope(Authorize) },
  },
  'GET /api/oauth/:type': {
    summary: 'OAuth callback: returns login data, or the message "bind"',
    params: Type.Object({ type: OAuthType }),
    querystring: CallbackQuery,
    response: { 200: Envelope(LoginOrBindResult) },
  },
  'GET /api/oauth/telegram/login': {
    summary: 'Sign in or register with Telegram’s widget',
    querystring: TelegramQuery,
    response: { 200: Envelope(LoginResult) },
  },
  'GET /api/oauth/telegram/bind': {
    summary: 'Bind the Telegram account of the widget; requires the state that it was shown with',
    querystring: TelegramQuery,
    response: { 200: Done, 302: Type.Null() },
  },
  'GET /api/oauth/wechat': {
    summary: 'Sign in or register with a code from WeChat',
    querystring: WeChatQuery,
    response: { 200: Envelope(LoginResult) },
  },
  'GET /api/oauth/wechat/bind': {
    summary: 'Bind the WeChat account that a code belongs to',
    querystring: WeChatQuery,
    response: { 200: Done },
  },
  'POST /api/user/unbind': {
    summary: 'Unbind an identity, if another login method remains',
    body: Unbind,
    response: { 200: Done },
  },
}
