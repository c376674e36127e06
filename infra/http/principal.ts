/**
 * The fields of a user that the session check needs. The folder `projections/users` provides them.
 */
export type SessionAccount = {
  readonly id: number
  readonly username: string
  readonly displayName: string
  /** The role: 1 user, 10 admin, 100 super admin. */
  readonly role: number
  /** The status: 1 is active. */
  readonly status: number
  readonly group: string
  readonly authVersion: number
  readonly isDeleted: boolean
}

export type FindPrincipal = (userId: number) => Promise<SessionAccount | null>

/** An issued access token. The folder `projections/credentials` provides it. */
export type KnownAccessToken = {
  readonly userId: number
  /** The user's `authVersion` when the token was issued. A later version invalidates the token. */
  readonly authVersion: number
  /** The expiry time in unix seconds. */
  readonly expiresAt: number
}

/** Returns an access token, or null if the token does not exist. */
export type FindAccessToken = (token: string) => Promise<KnownAccessToken | null>

/**
 * The caller of a request, as given by the session or access token and by the user's current
 * record.
 */
export type Principal = {
  readonly userId: number
  readonly username: string
  readonly role: number
  readonly status: number
  readonly group: string
  readonly authVersion: number
  /**
   * The SHA-256 of the session id in hex, which identifies the session without revealing its id.
   * Null for an access token.
   */
  readonly sessionHash: string | null
  /** True when the user logged in with a generated password and has not replaced it since. */
  readonly isByTemporaryPassword: boolean
  /** The time of the latest authentication in unix milliseconds, or 0 for an access token. */
  readonly provedAt: number
}
