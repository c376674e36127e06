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
  /** Another identity of this provider was bound or unbound meanwhile. */
  | 'IdentityChanged'
  /** A new password, a new level or a ban came between. */
  | 'LoginVoid'
  /** Another way in went meanwhile: what remains has to be looked at again. */
  | 'WaysInChanged'
  /** Nobody could come in as this user any more. */
  | 'LastWayIn'

export type UserRefusal = Refusal<UserRefusalCode>

export type UsernameRefusalCode = 'UsernameTaken'

export type UsernameRefusal = Refusal<UsernameRefusalCode>
