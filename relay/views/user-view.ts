import type { Role, UserEvent, UserSettings } from '#domain/user/events.ts'

export type RelayUser = {
  readonly userId: number
  readonly role: Role
  readonly isEnabled: boolean
  readonly group: string
  readonly settings: UserSettings
}

const DEFAULT_SETTINGS: UserSettings = { acceptUnsetModelRatioModel: false, showIpInLogs: false }

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
      case 'UserSettingsChanged':
        return this.put({ ...user, settings: event.data.settings })
      case 'UserEnabled':
        return this.put({ ...user, isEnabled: true })
      case 'UserDisabled':
      case 'UserDeleted':
      case 'UserErased':
        return this.put({ ...user, isEnabled: false })
    }
  }
}
