import type { IdentityProvider } from '../identity/events.ts'
import type { Role, UserSettings } from './events.ts'

export type KnownUser = {
  readonly userId: number
  readonly role: Role
  readonly group: string
  readonly displayName: string
  /** null: there is no password to come in by. */
  readonly passwordRef: string | null
  readonly authVersion: number
  readonly isEnabled: boolean
  readonly isDeleted: boolean
  readonly isErased: boolean
  readonly settings: UserSettings
  /** Provider → key of the identity that is bound. */
  readonly identities: Readonly<Partial<Record<IdentityProvider, string>>>
  /** How often a way in was given up. */
  readonly waysGone: number
}

/** null: never created. */
export type UserState = { readonly user: KnownUser | null }

export const initialUser = (): UserState => ({ user: null })

export const DEFAULT_SETTINGS: UserSettings = Object.freeze({
  acceptUnsetModelRatioModel: false,
  showIpInLogs: false,
})
