import type { IdentityProvider } from '../identities/events.ts'
import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { Role, UserCreated, UserSettings } from './events.ts'

/** The role of the admin who sends a command, or null if users change their own account. */
export type ActorRole = Role | null

export type CreateUser = { readonly type: 'CreateUser' } & UserCreated['data']

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
   * The user's `authVersion` when the request was authenticated. The command is refused if the
   * version has changed since then, because the sender may be an intruder.
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
type AppointAuditor = { readonly type: 'AppointAuditor'; readonly actorRole: Role }

type DemoteUser = { readonly type: 'DemoteUser'; readonly actorRole: Role }

type DisableUser = { readonly type: 'DisableUser'; readonly actorRole: Role }

type EnableUser = { readonly type: 'EnableUser'; readonly actorRole: Role }

type DeleteUser = { readonly type: 'DeleteUser'; readonly actorRole: ActorRole }

/**
 * Checks that an admin may change this user, and records nothing. This command is part of the same
 * append as commands to the user's other streams, because those streams do not contain the user's
 * role.
 */
type MayAct = { readonly type: 'MayAct'; readonly actorRole: Role }

/**
 * Checks that the user exists and was not deleted, and records nothing. This command is part of the
 * same append as commands that store texts by or about the user in other streams.
 */
type MustExist = { readonly type: 'MustExist' }

/** Invalidates all logins because a credential other than the password was removed. */
type VoidLogins = { readonly type: 'VoidLogins'; readonly actorRole: Role }

/** Makes all texts about the user permanently unreadable, and deactivates the user. */
export type EraseUser = { readonly type: 'EraseUser'; readonly actorRole: Role }

type ChangeSettings = { readonly type: 'ChangeSettings'; readonly settings: UserSettings }

/**
 * Binds an identity to the user. `replaces` is the key of the identity that the user already has at
 * this login provider, or null. The same append releases the replaced identity. The command is
 * refused if `replaces` is outdated.
 */
export type BindIdentity = {
  readonly type: 'BindIdentity'
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly identity: Sealed
  readonly replaces: string | null
}

export type LoginMethod = 'password' | 'passkey' | IdentityProvider

/**
 * Removes an identity from the user. `enabledLoginMethods` contains the login methods that the site
 * offers. The caller adds `passkey` only if the user has a passkey, because this aggregate does not
 * know the passkeys.
 */
export type UnbindIdentity = {
  readonly type: 'UnbindIdentity'
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly enabledLoginMethods: readonly LoginMethod[]
  /**
   * The user's `removedLoginMethods` when the caller read the passkeys. The command is refused if a
   * login method has been removed since then.
   */
  readonly expectedRemovedLoginMethods: number
}

/**
 * Records the removal of the user's passkeys. The same append removes the passkeys from the
 * credentials. The command is refused if the user would have no enabled login method left.
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
  | AppointAuditor
  | DemoteUser
  | DisableUser
  | EnableUser
  | DeleteUser
  | MayAct
  | MustExist
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

/** Releases a username. If the name belongs to another user, the command changes nothing. */
type ReleaseUsername = {
  readonly type: 'ReleaseUsername'
  readonly nameKey: string
  readonly userId: number
}

export type UsernameCommand = ClaimUsername | ReleaseUsername

export type UserErrorCode =
  | 'UserUnknown'
  | 'UserExists'
  /** The actor's role does not permit changes of this user (see `mayChange`). */
  | 'RoleTooHigh'
  | 'OnlySuperAdminPromotes'
  | 'OnlySuperAdminErases'
  | 'SuperAdminProtected'
  /** Another identity of this provider was bound or unbound after the client had read the user. */
  | 'IdentityChanged'
  /**
   * The login that authenticated the request is no longer valid, because the password or role was
   * changed, a credential was removed, or the user was disabled.
   */
  | 'LoginVoid'
  /**
   * Another login method of the user was removed, so the caller has to check the remaining methods
   * again.
   */
  | 'WaysInChanged'
  | 'LastWayIn'

export type UserError = CodedError<UserErrorCode>

export type UsernameErrorCode = 'UsernameTaken'

export type UsernameError = CodedError<UsernameErrorCode>
