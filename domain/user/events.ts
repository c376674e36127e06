import type { IdentityProvider } from '../identity/events.ts'
import type { Fact, Sealed } from '../shared/event.ts'

export const userStream = (userId: number): string => `user-${userId}`

/** One stream per name ever taken; `nameKey` is a keyed hash of the lower-cased username. */
export const usernameStream = (nameKey: string): string => `username-${nameKey}`

/** 1 normal user, 10 admin, 100 super admin. */
export type Role = 1 | 10 | 100

export type UsernameClaimed = Fact<
  'UsernameClaimed',
  { readonly nameKey: string; readonly userId: number }
>

/** Anybody may claim it from now on. */
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
    /** Vault reference of the password's hash; null for who came by another way in. */
    readonly passwordRef: string | null
    readonly inviterId: number | null
  }
>

/** The fields that changed, and only those. */
export type UserProfileChanged = Fact<
  'UserProfileChanged',
  { readonly userId: number; readonly displayName?: Sealed }
>

/** Every session and access token of before is void: `authVersion` counts up by one. */
export type UserPasswordChanged = Fact<
  'UserPasswordChanged',
  {
    readonly userId: number
    readonly passwordRef: string
    readonly authVersion: number
    /** Made up by the server, for its user to change. */
    readonly isTemporary?: true
  }
>

export type UserGroupChanged = Fact<
  'UserGroupChanged',
  {
    readonly userId: number
    readonly group: string
    /** Why, as who changed it said. */
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

/** Deactivated, as the screens say: it keeps its history and can't come back in. */
export type UserDeleted = Fact<
  'UserDeleted',
  { readonly userId: number; readonly authVersion: number }
>

/** Every session and access token of before is void, though level and password are the same. */
export type UserLoginsVoided = Fact<
  'UserLoginsVoided',
  { readonly userId: number; readonly authVersion: number }
>

/** A tombstone: the key of everything sealed for this user is destroyed. */
export type UserErased = Fact<'UserErased', { readonly userId: number }>

export type UserSettings = {
  readonly acceptUnsetModelRatioModel: boolean
  readonly showIpInLogs: boolean
}

export type UserSettingsChanged = Fact<
  'UserSettingsChanged',
  { readonly userId: number; readonly settings: UserSettings }
>

/** In place of the one of this provider that was bound before, if any. */
export type IdentityBound = Fact<
  'IdentityBound',
  {
    readonly userId: number
    readonly provider: IdentityProvider
    /** Of the identity's own stream. */
    readonly identityKey: string
    /** The provider's id, or the address of mail. */
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
 * Passkeys went, whose own fact is with the credentials. Here, too, so that of two acts that each
 * count on what the other takes away, the later one finds that something changed.
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
