import Type, { type Static } from 'typebox'
import { SessionUser } from '#read-api/contract/users.ts'

/** The kinds of second factor that a user can present. */
export const SecondFactorKind = Type.Union([
  Type.Literal('totp'),
  Type.Literal('recovery'),
  Type.Literal('passkey'),
])
export type SecondFactorKind = Static<typeof SecondFactorKind>

/** The first factor was accepted; a second one is required before a session starts. */
export const SecondFactorRequired = Type.Object({
  second_factor: Type.Object({
    /** Identifies the login in its second step; valid for five attempts within five minutes. */
    ticket: Type.String(),
    kinds: Type.Array(SecondFactorKind),
  }),
})
export type SecondFactorRequired = Static<typeof SecondFactorRequired>

/**
 * `data` of every login method: the user of the new session, or the second factor that is still
 * required.
 */
export const LoginResult = Type.Union([SessionUser, SecondFactorRequired])
export type LoginResult = Static<typeof LoginResult>

export const Login = Type.Object({
  username: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 512 }),
})
export type Login = Static<typeof Login>
