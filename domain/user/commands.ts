import type { IdentityProvider } from '../identity/events.ts'
import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { Role, UserCreated, UserSettings } from './events.ts'

/**
 * The role of the admin who changes another user's account; null when users change their own
 * account.
 */
export type ActorRole = Role | null

export type CreateUser = { readonly type: 'CreateUser' } & UserCreated['data']

/** Only the given fields are changed. */
type ChangeProfile = {
  readonly type: 'ChangeProfile'
  readonly actorRole: ActorRole
  readonly displayName?: Sealed
}

type ChangePassword = {
  readonly type: 'ChangePassword'
  readonly actorRole: ActorRole
  readonly passwordRef: string
  /**
   * The command is refused if logins were invalidated since, because the requester may be an
   * intruder.
   */
  readonly ifVersion?: number
  /** The server generated the password, so the user should choose another one. */
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

/** Refused unless the actor may change this user. Used in appends to streams that know no roles. */
type MayAct = { readonly type: 'MayAct'; readonly actorRole: Role }

/** Invalidates all logins of the user, because a credential other than the password was removed. */
type VoidLogins = { readonly type: 'VoidLogins'; readonly actorRole: Role }

/** Makes all texts about the user permanently unreadable. Deactivates the user if necessary. */
export type EraseUser = { readonly type: 'EraseUser'; readonly actorRole: Role }

type ChangeSettings = { readonly type: 'ChangeSettings'; readonly settings: UserSettings }

/**
 * `replaces` is the key of the identity of this provider that is currently bound, or null. It is
 * released in the same append, so the command is refused if the user has bound another one
 * meanwhile.
 */
export type BindIdentity = {
  readonly type: 'BindIdentity'
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly identity: Sealed
  readonly replaces: string | null
}

/** A method to log in: the password, a passkey, or an identity of a provider. */
export type LoginMethod = 'password' | 'passkey' | IdentityProvider

/**
 * `enabledLoginMethods` are the methods that the site offers now. They include the passkey if this
 * user has one, which this aggregate does not know.
 */
export type UnbindIdentity = {
  readonly type: 'UnbindIdentity'
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly enabledLoginMethods: readonly LoginMethod[]
  /**
   * The value before the passkeys were read; the command is refused if a login method was removed
   * since.
   */
  readonly ifWaysGone: number
}

/** Refused unless one of these methods remains. Used in the append that removes passkeys. */
export type DropPasskeys = {
  readonly type: 'DropPasskeys'
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
  | DropPasskeys

type ClaimUsername = {
  readonly type: 'ClaimUsername'
  readonly nameKey: string
  readonly userId: number
}

/** Changes nothing unless the name belongs to this user. */
type ReleaseUsername = {
  readonly type: 'ReleaseUsername'
  readonly nameKey: string
  readonly userId: number
}

export type UsernameCommand = ClaimUsername | ReleaseUsername

export type UserErrorCode =
  /** The user was never created, or was deleted. */
  | 'UserUnknown'
  /** The id belongs to another user. */
  | 'UserExists'
  /** The target's role is not below the actor's. */
  | 'RoleTooHigh'
  | 'OnlySuperAdminPromotes'
  | 'OnlySuperAdminErases'
  /** A super admin cannot be disabled, deleted or demoted. */
  | 'SuperAdminProtected'
  /** Another identity of this provider was bound or unbound meanwhile. */
  | 'IdentityChanged'
  /** The password or the role was changed, or the user was disabled, meanwhile. */
  | 'LoginVoid'
  /** Another login method was removed meanwhile, so the remaining ones have to be checked again. */
  | 'WaysInChanged'
  /** The user would have no login method left. */
  | 'LastWayIn'

export type UserError = CodedError<UserErrorCode>

export type UsernameErrorCode = 'UsernameTaken'

export type UsernameError = CodedError<UsernameErrorCode>
