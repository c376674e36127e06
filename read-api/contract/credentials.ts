import Type, { type Static } from 'typebox'

/** One of the own sessions. Times in unix seconds. */
export const OwnSession = Type.Object({
  id: Type.Integer(),
  ip: Type.String(),
  user_agent: Type.String(),
  started_at: Type.Integer(),
  seen_at: Type.Integer(),
  /** The one that asks. */
  is_current: Type.Boolean(),
})
export type OwnSession = Static<typeof OwnSession>

export const OwnPasskey = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  created_at: Type.Integer(),
  used_at: Type.Union([Type.Integer(), Type.Null()]),
})
export type OwnPasskey = Static<typeof OwnPasskey>

/** What one comes in by beside the password. Times in unix seconds. */
export const Security = Type.Object({
  access_token: Type.Union([
    Type.Object({ issued_at: Type.Integer(), expires_at: Type.Integer() }),
    Type.Null(),
  ]),
  /** Since when codes of an authenticator app are asked for; null: they are not. */
  totp_since: Type.Union([Type.Integer(), Type.Null()]),
  /** Recovery codes that are left. */
  recovery_codes: Type.Integer(),
  passkeys: Type.Array(OwnPasskey),
})
export type Security = Static<typeof Security>
