import Type, { type Static } from 'typebox'
import { IdParams } from '#read-api/contract/request-parameters.ts'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'
import { SessionUser } from '#read-api/contract/users.ts'
import { PasskeyLogin, PasskeyOptions, SecondStep, TicketOnly } from './credentials.ts'
import { HumanToken } from './registration-password-reset-and-setup.ts'

export const SecondFactorKind = Type.Union([
  Type.Literal('totp'),
  Type.Literal('recovery'),
  Type.Literal('passkey'),
])
export type SecondFactorKind = Static<typeof SecondFactorKind>

/** The response to a login whose first factor is correct, if the user also has a second factor. */
export const SecondFactorRequired = Type.Object({
  second_factor: Type.Object({
    /**
     * The ticket that identifies the login in the second step. It is valid for five minutes and at
     * most five attempts.
     */
    ticket: Type.String(),
    kinds: Type.Array(SecondFactorKind),
  }),
})
export type SecondFactorRequired = Static<typeof SecondFactorRequired>

/**
 * The response to a login: the user of the new session, or a notice that a second factor is still
 * required.
 */
export const LoginResult = Type.Union([SessionUser, SecondFactorRequired])
export type LoginResult = Static<typeof LoginResult>

export const Login = Type.Object({
  username: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 512 }),
})
export type Login = Static<typeof Login>

const logout = { summary: 'End this session', response: { 200: Done } }

export const loginActions = {
  'GET /api/user/logout': logout,
  'POST /api/user/logout': logout,
  'DELETE /api/user/sessions/:id': {
    summary: 'End one of your sessions',
    params: IdParams,
    response: { 200: Done },
  },
  'DELETE /api/user/sessions': { summary: 'End all your other sessions', response: { 200: Done } },
  'POST /api/user/login': {
    summary: 'Sign in; the session is a cookie',
    querystring: HumanToken,
    body: Login,
    response: { 200: Envelope(LoginResult) },
  },
  'POST /api/user/login/passkey/begin': {
    summary: 'Begin to sign in with a passkey',
    response: { 200: Envelope(PasskeyOptions) },
  },
  'POST /api/user/login/passkey': {
    summary: 'Sign in with a passkey',
    body: PasskeyLogin,
    response: { 200: Envelope(SessionUser) },
  },
  'POST /api/user/login/second/begin': {
    summary: 'Begin the second step of a login with a passkey',
    body: TicketOnly,
    response: { 200: Envelope(PasskeyOptions) },
  },
  'POST /api/user/login/second': {
    summary: 'Second step of a login: a code, a recovery code or a passkey',
    body: SecondStep,
    response: { 200: Envelope(SessionUser) },
  },
}
