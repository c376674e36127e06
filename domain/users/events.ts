import type { IdentityProvider } from '../identities/events.ts'
import type { Fact, Sealed } from '../shared/event.ts'

export const userStream = (userId: number): string => `user-${userId}`

/**
 * Returns the name of a username's event stream. A user who claims the name after it was released
 * has the same stream. `nameKey` is a keyed hash of the lower-case name.
 */
export const usernameStream = (nameKey: string): string => `username-${nameKey}`

/** 1 is a normal user, 5 an auditor, 10 an admin, 100 the super admin. */
export type Role = 1 | 5 | 10 | 100

export type UsernameClaimed = Fact<
  'UsernameClaimed',
  { readonly nameKey: string; readonly userId: number }
>

/** A username was released, so that any user can claim it. */
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
    /** The vault reference of the password's hash, or null if the user has no password. */
    readonly passwordRef: string | null
    readonly inviterId: number | null
  }
>

/** The user's profile was changed. The event contains only the changed fields. */
export type UserProfileChanged = Fact<
  'UserProfileChanged',
  { readonly userId: number; readonly displayName?: Sealed }
>

/**
 * The user's password was changed. All earlier sessions and access tokens are invalid, because
 * `authVersion` increases by one.
 */
export type UserPasswordChanged = Fact<
  'UserPasswordChanged',
  {
    readonly userId: number
    readonly passwordRef: string
    readonly authVersion: number
    /** Set if the server generated the password. The user should then change the password. */
    readonly isTemporary?: true
  }
>

export type UserGroupChanged = Fact<
  'UserGroupChanged',
  {
    readonly userId: number
    readonly group: string
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

/** The user was deleted. The user's history is kept, but the user can no longer log in. */
export type UserDeleted = Fact<
  'UserDeleted',
  { readonly userId: number; readonly authVersion: number }
>

/** All sessions and access tokens were invalidated, but the role and password did not change. */
export type UserLoginsVoided = Fact<
  'UserLoginsVoided',
  { readonly userId: number; readonly authVersion: number }
>

/**
 * The key that encrypted all texts about the user is destroyed. This event stays as a tombstone.
 */
export type UserErased = Fact<'UserErased', { readonly userId: number }>

export type UserSettings = {
  readonly acceptUnsetModelRatioModel: boolean
  readonly showIpInLogs: boolean
}

/** The settings of a new user, and defaults for settings that older events lack. */
export const DEFAULT_SETTINGS: UserSettings = Object.freeze({
  acceptUnsetModelRatioModel: false,
  showIpInLogs: false,
})

export type UserSettingsChanged = Fact<
  'UserSettingsChanged',
  { readonly userId: number; readonly settings: Partial<UserSettings> }
>

/** The user bound an identity. The identity replaces any earlier identity of the same provider. */
export type IdentityBound = Fact<
  'IdentityBound',
  {
    readonly userId: number
    readonly provider: IdentityProvider
    /** A keyed hash, which is part of the name of the identity's stream. */
    readonly identityKey: string
    /** The user's id at the provider. For the provider `email`, the id is the email address. */
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
 * The user's passkeys were removed. The credentials stream also records this removal. Because of
 * this event, two simultaneous removals of login methods conflict, so that at least one login
 * method remains.
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
