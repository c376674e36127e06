/** The fields of a user that the session check needs, from `projections/users`. */
export type SessionAccount = {
  readonly id: number
  readonly username: string
  readonly displayName: string
  /** 1 user, 10 admin, 100 super admin. */
  readonly role: number
  /** 1 is active. */
  readonly status: number
  readonly group: string
  readonly authVersion: number
  readonly isDeleted: boolean
}

/** Finds the users with the given ids in any order. The result does not contain unknown ids. */
export type FindPrincipals = (userIds: readonly number[]) => Promise<readonly SessionAccount[]>

/** An issued access token, from `projections/credentials`. */
export type AccessTokenOwner = {
  readonly userId: number
  /** The user's `authVersion` when the token was issued. A later version invalidates the token. */
  readonly authVersion: number
  /** The expiry time in unix seconds. */
  readonly expiresAt: number
}

export type FindAccessToken = (token: string) => Promise<AccessTokenOwner | null>

/** The caller of a request: the session or access token, and the user's current record. */
export type Principal = {
  readonly userId: number
  readonly username: string
  readonly role: number
  readonly status: number
  readonly group: string
  readonly authVersion: number
  /** The SHA-256 of the session id in hex; null for an access token. */
  readonly sessionHash: string | null
  /** True when the user logged in with a generated password and has not replaced it since. */
  readonly isByTemporaryPassword: boolean
  /** The time of the latest authentication in unix milliseconds; 0 for an access token. */
  readonly provedAt: number
}
