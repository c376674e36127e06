import type { Refusal } from '../shared/refusal.ts'

export type UserRefusalCode =
  /** Never created, or deleted. */
  | 'UserUnknown'
  /** The id is another user's. */
  | 'UserExists'
  /** The target's level is the actor's own or above. */
  | 'RoleTooHigh'
  | 'OnlySuperAdminPromotes'
  | 'OnlySuperAdminErases'
  /** A super admin can't be disabled, deleted or demoted. */
  | 'SuperAdminProtected'

export type UserRefusal = Refusal<UserRefusalCode>

export type UsernameRefusalCode = 'UsernameTaken'

export type UsernameRefusal = Refusal<UsernameRefusalCode>
