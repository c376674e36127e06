import Type, { type Static } from 'typebox'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'
import { SessionUser } from '#read-api/contract/users.ts'

const MailText = Type.String({ maxLength: 320 })

/** The token of the CAPTCHA, if the site requires one. */
export const HumanToken = Type.Object({
  turnstile: Type.Optional(Type.String({ maxLength: 4096 })),
})

export const Register = Type.Object({
  username: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 512 }),
  /** If present, this field must equal `password`. */
  password2: Type.Optional(Type.String({ maxLength: 512 })),
  email: Type.Optional(MailText),
  verification_code: Type.Optional(Type.String({ maxLength: 32 })),
  /** The code of the inviter. An unknown code is ignored. */
  aff_code: Type.Optional(Type.String({ maxLength: 64 })),
})
export type Register = Static<typeof Register>

const CodeRequest = Type.Object({
  email: MailText,
  turnstile: Type.Optional(Type.String({ maxLength: 4096 })),
  /**
   * The purpose of the code. `notify` verifies an address for notifications. The default is `bind`
   * with a session and `register` without a session.
   */
  purpose: Type.Optional(
    Type.Union([Type.Literal('register'), Type.Literal('bind'), Type.Literal('notify')]),
  ),
})

const ResetRequest = Type.Object({
  email: MailText,
  turnstile: Type.Optional(Type.String({ maxLength: 4096 })),
})

export const ResetPassword = Type.Object({
  email: MailText,
  token: Type.String({ maxLength: 200 }),
})
export type ResetPassword = Static<typeof ResetPassword>

const BindMail = Type.Object({
  email: MailText,
  code: Type.String({ maxLength: 32 }),
})

export const Setup = Type.Object({
  username: Type.String({ minLength: 1, maxLength: 64 }),
  password: Type.String({ maxLength: 512 }),
  confirmPassword: Type.String({ maxLength: 512 }),
  SelfUseModeEnabled: Type.Optional(Type.Boolean()),
  DemoSiteEnabled: Type.Optional(Type.Boolean()),
  /**
   * The token that the server prints when it starts. A setup request from another machine must
   * contain this token.
   */
  setup_token: Type.Optional(Type.String({ maxLength: 200 })),
})
export type Setup = Static<typeof Setup>

const TOKEN = Type.Optional(Type.String({ maxLength: 200 }))

export const registrationActions = {
  'GET /api/verification': {
    summary: 'Mail a code that proves an address',
    querystring: CodeRequest,
    response: { 200: Done },
  },
  'GET /api/reset_password': {
    summary: 'Mail a link that resets a forgotten password',
    querystring: ResetRequest,
    response: { 200: Done },
  },
  'POST /api/user/reset': {
    summary: 'Reset a password with a mailed link; returns the new password once',
    body: ResetPassword,
    response: { 200: Envelope(Type.String()) },
  },
  'POST /api/user/register': {
    summary: 'Register with a username and password, and a mail code if the site requires one',
    querystring: HumanToken,
    body: Register,
    response: { 200: Envelope(Type.Object({ id: Type.Integer() })) },
  },
  'GET /api/oauth/email/bind': {
    summary: 'Bind a mail address to your account with the mailed code',
    querystring: BindMail,
    response: { 200: Done },
  },
  'POST /api/setup': {
    summary: 'Set up the site on the first run; other machines need the token printed at start',
    body: Setup,
    querystring: Type.Object({ token: TOKEN }),
    response: { 200: Envelope(Type.Union([SessionUser, Type.Null()])) },
  },
}
