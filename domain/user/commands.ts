import type { IdentityProvider } from '../identity/events.ts'
import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { Role, UserSettings } from './events.ts'

/** The role of an admin who acts on somebody's account; null when the user acts on the own one. */
export type ActorRole = Role | null

export type CreateUser = {
  readonly type: 'CreateUser'
  readonly userId: number
  readonly username: Sealed
  readonly displayName: Sealed
  readonly role: Role
  readonly group: string
  readonly passwordRef: string | null
  readonly inviterId: number | null
}

/** Only the fields given are changed. */
type ChangeProfile = {
  readonly type: 'ChangeProfile'
  readonly actorRole: ActorRole
  readonly displayName?: Sealed
}

type ChangePassword = {
  readonly type: 'ChangePassword'
  readonly actorRole: ActorRole
  readonly passwordRef: string
  /** Refused when logins were voided since: whoever asks may not be who it was. */
  readonly ifVersion?: number
  /** Made up by the server: its user should choose another one. */
  readonly isTemporary?: boolean
}

type ChangeGroup = {
  readonly type: 'ChangeGroup'
  readonly actorRole: Role
  readonly group: string
  readonly note?: Sealed
}

type PromoteUser = { readonly type: 'PromoteUser'; readonly actorRole: Role }

type DemoteUser = { readonly type: 'DemoteUser'; readonly actorRole: Role }

type DisableUser = { readonly type: 'DisableUser'; readonly actorRole: Role }

type EnableUser = { readonly type: 'EnableUser'; readonly actorRole: Role }

type DeleteUser = { readonly type: 'DeleteUser'; readonly actorRole: ActorRole }

/** Refused unless the actor may act on this user: for an append to streams that know no levels. */
type MayAct = { readonly type: 'MayAct'; readonly actorRole: Role }

/** Who came in before has to come in again: something else than the password was taken away. */
type VoidLogins = { readonly type: 'VoidLogins'; readonly actorRole: Role }

/** For good: the texts about the user are unreadable afterwards. Deactivates, if need be. */
export type EraseUser = { readonly type: 'EraseUser'; readonly actorRole: Role }

type ChangeSettings = { readonly type: 'ChangeSettings'; readonly settings: UserSettings }

/**
 * `replaces` is the key of the identity of this provider that is bound now, null for none: it has
 * to be released in the same append, so the user must not have bound another meanwhile.
 */
export type BindIdentity = {
  readonly type: 'BindIdentity'
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly identity: Sealed
  readonly replaces: string | null
}

/** A way to come in: by password, by a passkey alone, or as whom a provider says. */
export type LoginMethod = 'password' | 'passkey' | IdentityProvider

/**
 * `enabledLoginMethods`: those that this site offers now; the passkey is among them where this user
 * has one, which is not known here.
 */
export type UnbindIdentity = {
  readonly type: 'UnbindIdentity'
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly enabledLoginMethods: readonly LoginMethod[]
  /** As it was before the passkeys were looked at: refused once another way in has gone. */
  readonly ifWaysGone: number
}

/** Refused unless one of these remains: for the append that takes passkeys away. */
export type GiveUpPasskeys = {
  readonly type: 'GiveUpPasskeys'
  readonly enabledLoginMethods: readonly LoginMethod[]
  readonly ifWaysGone: number
}

export type UserCommand =
  | CreateUser
  | ChangeProfile
  | ChangePassword
  | ChangeGroup
  | PromoteUser
  | DemoteUser
  | DisableUser
  | EnableUser
  | DeleteUser
  | MayAct
  | VoidLogins
  | EraseUser
  | ChangeSettings
  | BindIdentity
  | UnbindIdentity
  | GiveUpPasskeys

type ClaimUsername = {
  readonly type: 'ClaimUsername'
  readonly nameKey: string
  readonly userId: number
}

/** Changes nothing unless the name is this user's. */
type ReleaseUsername = {
  readonly type: 'ReleaseUsername'
  readonly nameKey: string
  readonly userId: number
}

export type UsernameCommand = ClaimUsername | ReleaseUsername

export type UserErrorCode =
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

export type UserError = CodedError<UserErrorCode>

export type UsernameErrorCode = 'UsernameTaken'

export type UsernameError = CodedError<UsernameErrorCode>
