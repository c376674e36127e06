import {
  DEFAULT_SETTINGS,
  type Role,
  type UserEvent,
  type UserSettings,
} from '#domain/users/events.ts'

/**
 * The facts about a user that decide whether the user's calls are admitted, and at which prices.
 */
export type RelayUser = {
  readonly userId: number
  readonly role: Role
  readonly isEnabled: boolean
  readonly group: string
  readonly settings: UserSettings
}

/** Stores users by id. An event that disables or deletes a user sets `isEnabled` to false. */
export class UserView {
  private readonly users = new Map<number, RelayUser>()

  find(userId: number): RelayUser | undefined {
    return this.users.get(userId)
  }

  put(row: RelayUser): void {
    this.users.set(row.userId, row)
  }

  apply(event: UserEvent): void {
    if (event.type === 'UserCreated') {
      const { userId, role, group } = event.data
      return this.put({ userId, role, group, isEnabled: true, settings: DEFAULT_SETTINGS })
    }
    const user = this.users.get(event.data.userId)
    if (user === undefined) return
    switch (event.type) {
      case 'UserGroupChanged':
        return this.put({ ...user, group: event.data.group })
      case 'UserRoleChanged':
        return this.put({ ...user, role: event.data.role })
      case 'UserSettingsChanged': {
        const settings = { ...DEFAULT_SETTINGS, ...event.data.settings }
        return this.put({ ...user, settings })
      }
      case 'UserEnabled':
        return this.put({ ...user, isEnabled: true })
      case 'UserDisabled':
      case 'UserDeleted':
      case 'UserErased':
        return this.put({ ...user, isEnabled: false })
    }
  }
}
