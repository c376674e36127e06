import Type, { type Static } from 'typebox'
import { Envelope } from './response-envelope.ts'

/** A session of the caller. Times are in Unix seconds. */
export const OwnSession = Type.Object({
  id: Type.Integer(),
  ip: Type.String(),
  user_agent: Type.String(),
  started_at: Type.Integer(),
  seen_at: Type.Integer(),
  /** True for the session that sent this request. */
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

/** The credentials of a user, except the password. Times are in Unix seconds. */
export const CredentialsOverview = Type.Object({
  access_token: Type.Union([
    Type.Object({ issued_at: Type.Integer(), expires_at: Type.Integer() }),
    Type.Null(),
  ]),
  /** The time at which an authenticator app was enabled, or null if no app is enabled. */
  totp_since: Type.Union([Type.Integer(), Type.Null()]),
  /** The number of unused recovery codes. */
  recovery_codes: Type.Integer(),
  passkeys: Type.Array(OwnPasskey),
})
export type CredentialsOverview = Static<typeof CredentialsOverview>

export const credentialQueries = {
  'GET /api/user/security': { response: { 200: Envelope(CredentialsOverview) } },
  'GET /api/user/sessions': { response: { 200: Envelope(Type.Array(OwnSession)) } },
}
