import type { Fact, Sealed } from '../shared/event.ts'

export const credentialsStream = (userId: number): string => `credentials-${userId}`

type OfUser = { readonly userId: number }

/** In place of any other. `authVersion` is the user's: with a later one the token is void. */
export type AccessTokenIssued = Fact<
  'AccessTokenIssued',
  OfUser & {
    /** Keyed hash of the token. */
    readonly tokenHash: string
    readonly authVersion: number
    /** Unix seconds. */
    readonly expiresAt: number
  }
>

export type AccessTokenRevoked = Fact<'AccessTokenRevoked', OfUser>

/** `step` (of 30 s, since 1970) is that of the code that confirmed it: it is used up. */
export type TotpEnabled = Fact<
  'TotpEnabled',
  OfUser & { readonly secretRef: string; readonly step: number }
>

export type TotpStepUsed = Fact<'TotpStepUsed', OfUser & { readonly step: number }>

export type TotpDisabled = Fact<'TotpDisabled', OfUser>

/** Keyed hashes; empty once there is no second factor left. */
export type RecoveryCodesReplaced = Fact<
  'RecoveryCodesReplaced',
  OfUser & { readonly codeHashes: readonly string[] }
>

export type RecoveryCodeUsed = Fact<'RecoveryCodeUsed', OfUser & { readonly codeHash: string }>

export type PasskeyAdded = Fact<
  'PasskeyAdded',
  OfUser & {
    readonly passkeyId: number
    readonly name: Sealed
    /** JSON of what its signatures are checked by: id, public key, transports, site. */
    readonly credential: Sealed
    /** Keyed hash of the authenticator's id for it. */
    readonly credentialHash: string
    readonly counter: number
  }
>

export type PasskeyRenamed = Fact<
  'PasskeyRenamed',
  OfUser & { readonly passkeyId: number; readonly name: Sealed }
>

export type PasskeyUsed = Fact<
  'PasskeyUsed',
  OfUser & { readonly passkeyId: number; readonly counter: number }
>

export type PasskeyRemoved = Fact<'PasskeyRemoved', OfUser & { readonly passkeyId: number }>

/** Taken away by an admin: the password alone lets in, and recovery codes are void. */
export type SecondFactorReset = Fact<
  'SecondFactorReset',
  OfUser & { readonly passkeyIds: readonly number[] }
>

/** The user was deleted: nothing of it is left to come in by. */
export type CredentialsForgotten = Fact<
  'CredentialsForgotten',
  OfUser & { readonly passkeyIds: readonly number[] }
>

export type CredentialsEvent =
  | AccessTokenIssued
  | AccessTokenRevoked
  | TotpEnabled
  | TotpStepUsed
  | TotpDisabled
  | RecoveryCodesReplaced
  | RecoveryCodeUsed
  | PasskeyAdded
  | PasskeyRenamed
  | PasskeyUsed
  | PasskeyRemoved
  | SecondFactorReset
  | CredentialsForgotten
