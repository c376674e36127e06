import type { IdentityProvider } from '../identity/events.ts'
import type { Fact, Sealed } from '../shared/event.ts'

export const userStream = (userId: number): string => `user-${userId}`

/**
 * Each name that was ever taken has one stream; `nameKey` is a keyed hash of the lower-case
 * username.
 */
export const usernameStream = (nameKey: string): string => `username-${nameKey}`

/** 1 is a normal user, 10 an admin, 100 the super admin. */
export type Role = 1 | 10 | 100

export type UsernameClaimed = Fact<
  'UsernameClaimed',
  { readonly nameKey: string; readonly userId: number }
>

/** The name can be claimed again, by any user. */
export type UsernameReleased = Fact<
  'UsernameReleased',
  { readonly nameKey: string; readonly userId: number }
>

export type UserCreated = Fact<
  'UserCreated',
  {
    readonly userId: number
    readonly username: Sealed
    readonly displayName: Sealed
    readonly role: Role
    readonly group: string
    /**
     * The vault reference of the password's hash; null for users who registered without a password.
     */
    readonly passwordRef: string | null
    readonly inviterId: number | null
  }
>

/** Only the changed fields are present. */
export type UserProfileChanged = Fact<
  'UserProfileChanged',
  { readonly userId: number; readonly displayName?: Sealed }
>

/** All earlier sessions and access tokens are invalid: `authVersion` increases by one. */
export type UserPasswordChanged = Fact<
  'UserPasswordChanged',
  {
    readonly userId: number
    readonly passwordRef: string
    readonly authVersion: number
    /** The server generated the password, so the user should change it. */
    readonly isTemporary?: true
  }
>

export type UserGroupChanged = Fact<
  'UserGroupChanged',
  {
    readonly userId: number
    readonly group: string
    /** The reason that the admin gave. */
    readonly note?: Sealed
  }
>

export type UserRoleChanged = Fact<
  'UserRoleChanged',
  { readonly userId: number; readonly role: Role; readonly authVersion: number }
>

export type UserDisabled = Fact<
  'UserDisabled',
  { readonly userId: number; readonly authVersion: number }
>

export type UserEnabled = Fact<'UserEnabled', { readonly userId: number }>

/**
 * The user was deactivated (the term in the console): the history remains, and logins are
 * impossible.
 */
export type UserDeleted = Fact<
  'UserDeleted',
  { readonly userId: number; readonly authVersion: number }
>

/** All earlier sessions and access tokens are invalid, although role and password are unchanged. */
export type UserLoginsVoided = Fact<
  'UserLoginsVoided',
  { readonly userId: number; readonly authVersion: number }
>

/** A tombstone: the key of everything that was sealed for this user is destroyed. */
export type UserErased = Fact<'UserErased', { readonly userId: number }>

export type UserSettings = {
  readonly acceptUnsetModelRatioModel: boolean
  readonly showIpInLogs: boolean
}

export type UserSettingsChanged = Fact<
  'UserSettingsChanged',
  { readonly userId: number; readonly settings: UserSettings }
>

/** Replaces the identity of this provider that was bound before, if any. */
export type IdentityBound = Fact<
  'IdentityBound',
  {
    readonly userId: number
    readonly provider: IdentityProvider
    /** The key in the name of the identity's stream. */
    readonly identityKey: string
    /** The provider's id, or the email address. */
    readonly identity: Sealed
  }
>

export type IdentityUnbound = Fact<
  'IdentityUnbound',
  {
    readonly userId: number
    readonly provider: IdentityProvider
    readonly identityKey: string
  }
>

/**
 * Passkeys were removed, which the stream of credentials records. It is repeated here so that of
 * two simultaneous changes, each of which relies on what the other removes, the later one is
 * refused.
 */
export type UserPasskeysGone = Fact<'UserPasskeysGone', { readonly userId: number }>

export type UsernameEvent = UsernameClaimed | UsernameReleased

export type UserEvent =
  | UserCreated
  | UserProfileChanged
  | UserPasswordChanged
  | UserGroupChanged
  | UserRoleChanged
  | UserDisabled
  | UserEnabled
  | UserDeleted
  | UserLoginsVoided
  | UserErased
  | UserSettingsChanged
  | IdentityBound
  | IdentityUnbound
  | UserPasskeysGone
