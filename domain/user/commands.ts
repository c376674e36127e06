import type { IdentityProvider } from '../identity/events.ts'
import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { Role, UserCreated, UserSettings } from './events.ts'

/**
 * The role of the admin who changes another user's account. It is null if a user changes the user's
 * own account.
 */
export type ActorRole = Role | null

export type CreateUser = { readonly type: 'CreateUser' } & UserCreated['data']

/** Changes the profile of a user. Omitted fields keep their values. */
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
   * The user's version of logins when the request was authenticated. The command is refused if
   * logins have been invalidated since, because the sender may be an intruder.
   */
  readonly ifVersion?: number
  /** Set if the server generated the password. The user should then choose a new password. */
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

/**
 * Checks that the actor may change this user, without changing anything. It is sent together with
 * commands for streams that do not contain the user's role.
 */
type MayAct = { readonly type: 'MayAct'; readonly actorRole: Role }

/** Invalidates all logins of a user because a credential other than the password was removed. */
type VoidLogins = { readonly type: 'VoidLogins'; readonly actorRole: Role }

/**
 * Makes all texts about the user permanently unreadable. A user who is not deactivated yet is
 * deactivated, too.
 */
export type EraseUser = { readonly type: 'EraseUser'; readonly actorRole: Role }

type ChangeSettings = { readonly type: 'ChangeSettings'; readonly settings: UserSettings }

/**
 * Binds an identity to the user. `replaces` is the key of the identity of this provider that is
 * currently bound, or null. The same append releases the replaced identity. The command is refused
 * if another identity was bound meanwhile.
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
 * Removes an identity from the user. `enabledLoginMethods` contains the methods that the site
 * currently offers. The caller adds `passkey` only if the user has a passkey, because this
 * aggregate does not know the user's passkeys.
 */
export type UnbindIdentity = {
  readonly type: 'UnbindIdentity'
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly enabledLoginMethods: readonly LoginMethod[]
  /**
   * The number of login methods that the user had removed (`removedLoginMethods`) when the caller
   * read the user's passkeys. The command is refused if a login method was removed after that.
   */
  readonly expectedRemovedLoginMethods: number
}

/**
 * Records that the user's passkeys are removed. The same append removes them from the credentials.
 * The command is refused if the user would have no enabled login method left.
 */
export type DropPasskeys = {
  readonly type: 'DropPasskeys'
  readonly enabledLoginMethods: readonly LoginMethod[]
  readonly expectedRemovedLoginMethods: number
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

/** Releases a username. The command changes nothing if the name belongs to another user. */
type ReleaseUsername = {
  readonly type: 'ReleaseUsername'
  readonly nameKey: string
  readonly userId: number
}

export type UsernameCommand = ClaimUsername | ReleaseUsername

export type UserErrorCode =
  /** The user does not exist or was deleted. */
  | 'UserUnknown'
  /** The id already belongs to another user. */
  | 'UserExists'
  /** The role of the user to be changed is not below the role of the actor. */
  | 'RoleTooHigh'
  | 'OnlySuperAdminPromotes'
  | 'OnlySuperAdminErases'
  /** A super admin cannot be disabled, deleted or demoted. */
  | 'SuperAdminProtected'
  /** Another identity of this provider was bound or unbound after the client had read the user. */
  | 'IdentityChanged'
  /** The password or role changed, or the user was disabled, after the request's authentication. */
  | 'LoginVoid'
  /**
   * Another login method was removed meanwhile, so the caller has to check the remaining login
   * methods again.
   */
  | 'WaysInChanged'
  /** The user would have no login method left. */
  | 'LastWayIn'

export type UserError = CodedError<UserErrorCode>

export type UsernameErrorCode = 'UsernameTaken'

export type UsernameError = CodedError<UsernameErrorCode>
