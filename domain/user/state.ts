import type { Role, UserSettings } from './events.ts'

export type KnownUser = {
  readonly userId: number
  readonly role: Role
  readonly group: string
  readonly displayName: string
  readonly passwordRef: string
  readonly authVersion: number
  readonly isEnabled: boolean
  readonly isDeleted: boolean
  readonly isErased: boolean
  readonly settings: UserSettings
}

/** null: never created. */
export type UserState = { readonly user: KnownUser | null }

export const initialUser = (): UserState => ({ user: null })

export const DEFAULT_SETTINGS: UserSettings = Object.freeze({
  acceptUnsetModelRatioModel: false,
  showIpInLogs: false,
})
