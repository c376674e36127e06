import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const tokenRow = rowType({
  userId: wireInteger,
  authVersion: wireInteger,
  /** The time at which the access token expires, in Unix seconds. */
  expiresAt: wireInteger,
})
export type AccessTokenRow = RowOf<typeof tokenRow>

/**
 * Finds an access token and its owner by the keyed hash of the token. Returns null if there is no
 * such token.
 */
export const findAccessToken = (
  db: CommonQueryMethods,
  tokenHash: string,
): Promise<AccessTokenRow | null> =>
  db.maybeOne(sql.type(tokenRow)`
    select user_id as "userId", token_auth_version as "authVersion",
      token_expires_at as "expiresAt"
    from read_credentials.credentials where token_hash = ${tokenHash}
  `)

const credentialsRow = rowType({
  tokenIssuedAt: nullable(wireInteger),
  tokenExpiresAt: nullable(wireInteger),
  tokenAuthVersion: nullable(wireInteger),
  totpSince: nullable(wireInteger),
  recoveryCodes: wireInteger,
})
export type CredentialsRow = RowOf<typeof credentialsRow>

/**
 * Reads which credentials a user has, or null if the user never had any. Times are in Unix seconds.
 */
export const credentialsOf = (
  db: CommonQueryMethods,
  userId: number,
): Promise<CredentialsRow | null> =>
  db.maybeOne(sql.type(credentialsRow)`
    select token_issued_at as "tokenIssuedAt", token_expires_at as "tokenExpiresAt",
      token_auth_version as "tokenAuthVersion", totp_since as "totpSince",
      recovery_codes as "recoveryCodes"
    from read_credentials.credentials where user_id = ${userId}
  `)

const passkeyRow = rowType({
  id: wireInteger,
  name: Type.String(),
  createdAt: wireInteger,
  usedAt: nullable(wireInteger),
})
export type PasskeyRow = RowOf<typeof passkeyRow>

/** Lists the passkeys of a user in the order in which they were added. */
export const passkeysOf = (
  db: CommonQueryMethods,
  userId: number,
): Promise<readonly PasskeyRow[]> =>
  db.any(sql.type(passkeyRow)`
    select passkey_id as id, name, created_at as "createdAt", used_at as "usedAt"
    from read_credentials.passkeys where user_id = ${userId} order by passkey_id
  `)
