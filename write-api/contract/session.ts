import Type, { type Static } from 'typebox'
import { SessionUser } from '#read-api/contract/user.ts'

/** What a second factor can be shown by. */
export const SecondFactorKind = Type.Union([
  Type.Literal('totp'),
  Type.Literal('recovery'),
  Type.Literal('passkey'),
])
export type SecondFactorKind = Static<typeof SecondFactorKind>

/** Who somebody is was shown once; a second factor is wanted before there is a session. */
export const SecondFactorNeeded = Type.Object({
  second_factor: Type.Object({
    /** For the second step alone: five tries within five minutes. */
    ticket: Type.String(),
    kinds: Type.Array(SecondFactorKind),
  }),
})
export type SecondFactorNeeded = Static<typeof SecondFactorNeeded>

/** `data` of every way in: the user of the session that was started, or what is still wanted. */
export const Entered = Type.Union([SessionUser, SecondFactorNeeded])
export type Entered = Static<typeof Entered>
