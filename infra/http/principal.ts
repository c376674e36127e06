/** The fields of a user that the session check needs; `projections/users` provides them. */
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

/** An issued access token; `projections/credentials` provides it. */
export type KnownAccessToken = {
  readonly userId: number
  /** The user's `authVersion` at that time; a later version invalidates the token. */
  readonly authVersion: number
  /** Unix seconds. */
  readonly expiresAt: number
}

/** Returns null when the access token does not exist. */
export type FindAccessToken = (token: string) => Promise<KnownAccessToken | null>

/**
 * The caller of a request, according to the session or access token and the user's current record.
 */
export type Principal = {
  readonly userId: number
  readonly username: string
  readonly role: number
  readonly status: number
  readonly group: string
  readonly authVersion: number
  /**
   * The SHA-256 of the session's id in hex, which names the session without revealing it; null for
   * an access token.
   */
  readonly sessionHash: string | null
  /** True when the user logged in with a generated password and has not replaced it since. */
  readonly isByTemporaryPassword: boolean
  /** The time of the latest authentication in unix milliseconds; 0 for an access token. */
  readonly provedAt: number
}
