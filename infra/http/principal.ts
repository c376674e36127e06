/** The fields of a user that the session check needs, from the read model `users`. */
export type SessionAccount = {
  readonly id: number
  readonly username: string
  readonly displayName: string
  /** The user's rights: 1 is a user, 5 an auditor, 10 an admin and 100 a super admin. */
  readonly role: number
  /** 1 means that the user is active. */
  readonly status: number
  readonly group: string
  readonly authVersion: number
  readonly isDeleted: boolean
}

/** Finds the users with these ids, in any order. Unknown ids are left out. */
export type FindPrincipals = (userIds: readonly number[]) => Promise<readonly SessionAccount[]>

/** The owner of an access token, from the read model `credentials`. */
export type AccessTokenOwner = {
  readonly userId: number
  /** The user's `authVersion` when the token was issued. A later version invalidates the token. */
  readonly authVersion: number
  /** The expiry time of the token in Unix seconds. */
  readonly expiresAt: number
}

export type FindAccessToken = (token: string) => Promise<AccessTokenOwner | null>

/** The sender of a request: the user as currently stored, and the session or access token. */
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
  /** The time of the latest authentication in Unix milliseconds; 0 for an access token. */
  readonly provedAt: number
}
