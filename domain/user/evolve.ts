import { assert } from '../shared/assert.ts'
import type { IdentityBound, IdentityUnbound, UserEvent } from './events.ts'
import { DEFAULT_SETTINGS, type KnownUser, type UserState } from './state.ts'

export function evolveUser({ user }: UserState, event: UserEvent): UserState {
  if (event.type === 'UserCreated') {
    const { userId, role, group, displayName, passwordRef } = event.data
    const named = { userId, role, group, displayName, passwordRef }
    const fresh = { authVersion: 1, isEnabled: true, isDeleted: false, isErased: false }
    return { user: { ...named, ...fresh, settings: DEFAULT_SETTINGS, identities: {} } }
  }
  assert(user !== null, `${event.type} before UserCreated`)
  if (event.type === 'IdentityBound' || event.type === 'IdentityUnbound') {
    return { user: { ...user, identities: identitiesAfter(user, event) } }
  }
  return { user: { ...user, ...changeOf(event) } }
}

type OfIdentity = IdentityBound | IdentityUnbound

function identitiesAfter({ identities }: KnownUser, event: OfIdentity): KnownUser['identities'] {
  const { provider, identityKey } = event.data
  const { [provider]: _before, ...others } = identities
  return event.type === 'IdentityBound' ? { ...others, [provider]: identityKey } : others
}

function changeOf(
  event: Exclude<UserEvent, { type: 'UserCreated' } | OfIdentity>,
): Partial<KnownUser> {
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
      return { settings: event.data.settings }
  }
}
