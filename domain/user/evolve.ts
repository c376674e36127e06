import { assert } from '../shared/assert.ts'
import type { UserEvent } from './events.ts'
import { DEFAULT_SETTINGS, type KnownUser, type UserState } from './state.ts'

export function evolveUser({ user }: UserState, event: UserEvent): UserState {
  if (event.type === 'UserCreated') {
    const { userId, role, group, displayName, passwordRef } = event.data
    const fresh = { authVersion: 1, isEnabled: true, isDeleted: false, isErased: false }
    const settings = DEFAULT_SETTINGS
    return { user: { userId, role, group, displayName, passwordRef, ...fresh, settings } }
  }
  assert(user !== null, `${event.type} before UserCreated`)
  return { user: { ...user, ...changeOf(event) } }
}

function changeOf(event: Exclude<UserEvent, { type: 'UserCreated' }>): Partial<KnownUser> {
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
    case 'UserErased':
      return { isErased: true }
    case 'UserSettingsChanged':
      return { settings: event.data.settings }
  }
}
