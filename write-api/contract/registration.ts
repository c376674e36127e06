import Type, { type Static } from 'typebox'

const MailText = Type.String({ maxLength: 320 })

/** The token of the human check, if the site has one. */
export const HumanToken = Type.Object({
  turnstile: Type.Optional(Type.String({ maxLength: 4096 })),
})

export const Register = Type.Object({
  username: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 512 }),
  /** Repeats the password; checked if present. */
  password2: Type.Optional(Type.String({ maxLength: 512 })),
  email: Type.Optional(MailText),
  verification_code: Type.Optional(Type.String({ maxLength: 32 })),
  /** The inviter's code. An unknown code is ignored. */
  aff_code: Type.Optional(Type.String({ maxLength: 64 })),
})
export type Register = Static<typeof Register>

export const CodeRequest = Type.Object({
  email: MailText,
  turnstile: Type.Optional(Type.String({ maxLength: 4096 })),
  /**
   * Defaults to `bind` with a session and to `register` without one. `notify` verifies an address
   * for notifications.
   */
  purpose: Type.Optional(
    Type.Union([Type.Literal('register'), Type.Literal('bind'), Type.Literal('notify')]),
  ),
})

export const ResetRequest = Type.Object({
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

export const Setup = Type.Object({
  username: Type.String({ minLength: 1, maxLength: 64 }),
  password: Type.String({ maxLength: 512 }),
  confirmPassword: Type.String({ maxLength: 512 }),
  SelfUseModeEnabled: Type.Optional(Type.Boolean()),
  DemoSiteEnabled: Type.Optional(Type.Boolean()),
  /** The token printed at start; required from another machine. */
  setup_token: Type.Optional(Type.String({ maxLength: 200 })),
})
export type Setup = Static<typeof Setup>
