import Type, { type Static } from 'typebox'
import { SessionUser } from '#read-api/contract/user.ts'
import { SecondFactorNeeded } from './session.ts'

/** Providers that a browser is sent to and comes back from with a code. */
export const OAuthType = Type.Union([
  Type.Literal('github'),
  Type.Literal('oidc'),
  Type.Literal('linuxdo'),
])
export type OAuthType = Static<typeof OAuthType>

const SHORT = Type.String({ maxLength: 200 })

/**
 * What coming back will do, fixed beforehand. `anew` logs in again whoever is logged in, and nobody
 * else. Left out: binds for whoever is logged in, else logs in. `aff`: the code of whoever invited.
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

/** Where to send the browser. */
export const Authorize = Type.Object({ url: Type.String() })
export type Authorize = Static<typeof Authorize>

export const CallbackQuery = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 4_096 }),
  state: Type.String({ minLength: 1, maxLength: 200 }),
  /** As some OIDC providers send it along (RFC 9207). */
  iss: Type.Optional(Type.String({ maxLength: 2_048 })),
})
export type CallbackQuery = Static<typeof CallbackQuery>

/** `data` of a way in that may have been a binding, which has `message` "bind" and no data. */
export const EnteredOrBound = Type.Union([SessionUser, SecondFactorNeeded, Type.Null()])
export type EnteredOrBound = Static<typeof EnteredOrBound>

export const WeChatQuery = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 100 }),
  aff: Type.Optional(SHORT),
})
export type WeChatQuery = Static<typeof WeChatQuery>

/** What the widget says, and the state that its address carried. */
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

export const Unbind = Type.Object({
  provider: Type.Union([
    Type.Literal('email'),
    Type.Literal('github'),
    Type.Literal('oidc'),
    Type.Literal('linuxdo'),
    Type.Literal('wechat'),
    Type.Literal('telegram'),
  ]),
})
export type Unbind = Static<typeof Unbind>
