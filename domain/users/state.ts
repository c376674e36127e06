import type { IdentityProvider } from '../identities/events.ts'
import { assert } from '../shared/assert.ts'
import {
  DEFAULT_SETTINGS,
  type IdentityBound,
  type IdentityUnbound,
  type Role,
  type UserEvent,
  type UserPasskeysGone,
  type UserSettings,
} from './events.ts'

export type UserRecord = {
  readonly userId: number
  readonly role: Role
  readonly group: string
  readonly displayName: string
  /** The vault reference of the password's hash, or null if the user has no password. */
  readonly passwordRef: string | null
  readonly authVersion: number
  readonly isEnabled: boolean
  readonly isDeleted: boolean
  readonly isErased: boolean
  readonly settings: UserSettings
  /** The keyed hashes of the bound identities, by provider. */
  readonly identities: Readonly<Partial<Record<IdentityProvider, string>>>
  /** The number of times that a login method of the user was removed. */
  readonly removedLoginMethods: number
}

export type UserState = { readonly user: UserRecord | null }

export const initialUser = (): UserState => ({ user: null })

/** Reports whether the user exists and is neither banned nor deleted. */
export const isActiveUser = ({ user }: UserState): boolean =>
  user?.isEnabled === true && !user.isDeleted

export function evolveUser({ user }: UserState, event: UserEvent): UserState {
  if (event.type === 'UserCreated') {
    const { userId, role, group, displayName, passwordRef } = event.data
    const named = { userId, role, group, displayName, passwordRef }
    const fresh = { authVersion: 1, isEnabled: true, isDeleted: false, isErased: false }
    const loginMethods = { identities: {}, removedLoginMethods: 0 }
    return { user: { ...named, ...fresh, ...loginMethods, settings: DEFAULT_SETTINGS } }
  }
  assert(user !== null, `${event.type} before UserCreated`)
  switch (event.type) {
    case 'IdentityBound':
    case 'IdentityUnbound':
    case 'UserPasskeysGone':
      return { user: { ...user, ...loginMethodsAfter(user, event) } }
    default:
      return { user: { ...user, ...changeOf(event) } }
  }
}

type LoginMethodEvent = IdentityBound | IdentityUnbound | UserPasskeysGone

function loginMethodsAfter(
  { identities, removedLoginMethods }: UserRecord,
  event: LoginMethodEvent,
): Pick<UserRecord, 'identities' | 'removedLoginMethods'> {
  if (event.type === 'UserPasskeysGone')
    return { identities, removedLoginMethods: removedLoginMethods + 1 }
  const { provider, identityKey } = event.data
  const { [provider]: _before, ...others } = identities
  if (event.type === 'IdentityUnbound')
    return { identities: others, removedLoginMethods: removedLoginMethods + 1 }
  return { identities: { ...others, [provider]: identityKey }, removedLoginMethods }
}

function changeOf(
  event: Exclude<UserEvent, { type: 'UserCreated' } | LoginMethodEvent>,
): Partial<UserRecord> {
  switch (event.type) {
    case 'UserProfileChanged': {
      const { displayName } = event.data
      return displayName === undefined ? {} : { displayName }
    }
    case 'UserPasswordChanged': {
      const { passwordRef, authVersion } = event.data
      return { passwordRef, authVersion }
    }
    case 'UserGroupChanged':
      return { group: event.data.group }
    case 'UserRoleChanged':
      return { role: event.data.role, authVersion: event.data.authVersion }
    case 'UserDisabled':
      return { isEnabled: false, authVersion: event.data.authVersion }
    case 'UserEnabled':
      return { isEnabled: true }
    case 'UserDeleted':
      return { isDeleted: true, authVersion: event.data.authVersion }
    case 'UserLoginsVoided':
      return { authVersion: event.data.authVersion }
    case 'UserErased':
      return { isErased: true }
    case 'UserSettingsChanged':
      return { settings: { ...DEFAULT_SETTINGS, ...event.data.settings } }
  }
}
