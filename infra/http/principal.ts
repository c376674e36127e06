/** What the session check needs to know of a user; `projections/users` answers it. */
export type SessionAccount = {
  readonly id: number
  readonly username: string
  readonly displayName: string
  /** 1 normal user, 10 admin, 100 super admin. */
  readonly role: number
  /** 1 active. */
  readonly status: number
  readonly group: string
  readonly authVersion: number
  readonly isDeleted: boolean
}

export type FindPrincipal = (userId: number) => Promise<SessionAccount | null>

/** An access token as it was issued; `projections/credentials` answers it. */
export type KnownAccessToken = {
  readonly userId: number
  /** The user's `authVersion` then: a later one voids it. */
  readonly authVersion: number
  /** Unix seconds. */
  readonly expiresAt: number
}

/** null when nobody has this access token. */
export type FindAccessToken = (token: string) => Promise<KnownAccessToken | null>

/** Who makes a request, as its session or access token and the user's record of this moment say. */
export type Principal = {
  readonly userId: number
  readonly username: string
  readonly role: number
  readonly status: number
  readonly group: string
  readonly authVersion: number
  /** SHA-256 of the session's id, hex: names the session without being it. null: by token. */
  readonly sessionHash: string | null
  /** Came in by a password that the server made up, and has not set an own one since. */
  readonly isByTemporaryPassword: boolean
  /** When who it is was last shown, unix milliseconds; 0 by token. */
  readonly provedAt: number
}
