import { assert } from '../shared/assert.ts'
import type { Sealed } from '../shared/event.ts'
import type { CredentialsEvent } from './events.ts'

type AccessToken = {
  readonly tokenHash: string
  readonly authVersion: number
  /** The time at which the access token expires, in Unix seconds. */
  readonly expiresAt: number
}

type Totp = { readonly secretRef: string; readonly usedStep: number }

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
  /** The number of passkeys ever added, which is also the id of the latest passkey. */
  readonly passkeysMade: number
}

export const initialCredentials = (): CredentialsState => ({
  accessToken: null,
  totp: null,
  recoveryCodes: new Set(),
  passkeys: new Map(),
  passkeysMade: 0,
})

export const hasSecondFactor = ({
  totp,
  passkeys,
}: Pick<CredentialsState, 'totp' | 'passkeys'>): boolean => totp !== null || passkeys.size > 0

export function evolveCredentials(
  state: CredentialsState,
  event: CredentialsEvent,
): CredentialsState {
  switch (event.type) {
    case 'AccessTokenIssued': {
      const { tokenHash, authVersion, expiresAt } = event.data
      return { ...state, accessToken: { tokenHash, authVersion, expiresAt } }
    }
    case 'AccessTokenRevoked':
      return { ...state, accessToken: null }
    case 'TotpEnabled':
      return { ...state, totp: { secretRef: event.data.secretRef, usedStep: event.data.step } }
    case 'TotpStepUsed':
      assert(state.totp !== null, 'TotpStepUsed while TOTP is disabled')
      return { ...state, totp: { ...state.totp, usedStep: event.data.step } }
    case 'TotpDisabled':
      return { ...state, totp: null }
    case 'RecoveryCodesReplaced':
      return { ...state, recoveryCodes: new Set(event.data.codeHashes) }
    case 'RecoveryCodeUsed': {
      const recoveryCodes = new Set(state.recoveryCodes)
      recoveryCodes.delete(event.data.codeHash)
      return { ...state, recoveryCodes }
    }
    case 'PasskeyAdded': {
      const { passkeyId, name, credential, credentialHash, counter } = event.data
      const passkeys = new Map(state.passkeys)
      passkeys.set(passkeyId, { name, credential, credentialHash, counter })
      return { ...state, passkeys, passkeysMade: passkeyId }
    }
    case 'PasskeyRenamed':
      return withPasskey(state, event.data.passkeyId, { name: event.data.name })
    case 'PasskeyUsed':
      return withPasskey(state, event.data.passkeyId, { counter: event.data.counter })
    case 'PasskeyRemoved': {
      const passkeys = new Map(state.passkeys)
      passkeys.delete(event.data.passkeyId)
      return { ...state, passkeys }
    }
    case 'SecondFactorReset':
      return { ...state, totp: null, recoveryCodes: new Set(), passkeys: new Map() }
    case 'CredentialsForgotten':
      return { ...initialCredentials(), passkeysMade: state.passkeysMade }
  }
}

function withPasskey(
  state: CredentialsState,
  passkeyId: number,
  change: Partial<Passkey>,
): CredentialsState {
  const passkey = state.passkeys.get(passkeyId)
  assert(passkey !== undefined, `passkey ${passkeyId} is unknown`)
  return { ...state, passkeys: new Map(state.passkeys).set(passkeyId, { ...passkey, ...change }) }
}
