import Type, { type Static } from 'typebox'

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

export const Login = Type.Object({
  username: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 512 }),
})
export type Login = Static<typeof Login>
