import Type, { type Static } from 'typebox'

const MailText = Type.String({ maxLength: 320 })

/** The token of the human check, where one is asked for. */
export const HumanToken = Type.Object({
  turnstile: Type.Optional(Type.String({ maxLength: 4096 })),
})

export const Register = Type.Object({
  username: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 512 }),
  /** The password once more; checked when it is given. */
  password2: Type.Optional(Type.String({ maxLength: 512 })),
  email: Type.Optional(MailText),
  verification_code: Type.Optional(Type.String({ maxLength: 32 })),
  /** Who invited; a code that is nobody's changes nothing. */
  aff_code: Type.Optional(Type.String({ maxLength: 64 })),
})
export type Register = Static<typeof Register>

export const AskCode = Type.Object({
  email: MailText,
  turnstile: Type.Optional(Type.String({ maxLength: 4096 })),
  /** `bind` where there is a session, else `register`; `notify`: to be told things there. */
  purpose: Type.Optional(
    Type.Union([Type.Literal('register'), Type.Literal('bind'), Type.Literal('notify')]),
  ),
})

export const AskReset = Type.Object({
  email: MailText,
  turnstile: Type.Optional(Type.String({ maxLength: 4096 })),
})

export const ResetPassword = Type.Object({
  email: MailText,
  token: Type.String({ maxLength: 200 }),
})
export type ResetPassword = Static<typeof ResetPassword>

export const BindMail = Type.Object({
  email: MailText,
  code: Type.String({ maxLength: 32 }),
})
