import type { Sealed } from '../shared/event.ts'

export type AccessToken = {
  readonly tokenHash: string
  readonly authVersion: number
  /** Unix seconds. */
  readonly expiresAt: number
}

export type Totp = { readonly secretRef: string; readonly usedStep: number }

export type Passkey = {
  readonly credential: Sealed
  readonly credentialHash: string
  readonly name: Sealed
  readonly counter: number
}

export type CredentialsState = {
  readonly accessToken: AccessToken | null
  readonly totp: Totp | null
  readonly recoveryCodes: ReadonlySet<string>
  readonly passkeys: ReadonlyMap<number, Passkey>
  /** Ever made: the next one's id is one more. */
  readonly passkeysMade: number
}

export const initialCredentials = (): CredentialsState => ({
  accessToken: null,
  totp: null,
  recoveryCodes: new Set(),
  passkeys: new Map(),
  passkeysMade: 0,
})

/** Whether the password alone does not let in. */
export const hasSecondFactor = ({
  totp,
  passkeys,
}: Pick<CredentialsState, 'totp' | 'passkeys'>): boolean => totp !== null || passkeys.size > 0
