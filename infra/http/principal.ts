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

/** Who makes a request, as its session and the user's record of this moment say. */
export type Principal = {
  readonly userId: number
  readonly username: string
  readonly role: number
  readonly status: number
  readonly group: string
  readonly authVersion: number
  /** SHA-256 of the session's id, hex: names the session without being it. */
  readonly sessionHash: string
}
