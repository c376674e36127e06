import type { Fact, Sealed } from '../shared/event.ts'

export const credentialsStream = (userId: number): string => `credentials-${userId}`

type UserReference = { readonly userId: number }

/**
 * Replaces any earlier access token. `authVersion` is that of the user; a later version makes the
 * token invalid.
 */
export type AccessTokenIssued = Fact<
  'AccessTokenIssued',
  UserReference & {
    /** A keyed hash of the token. */
    readonly tokenHash: string
    readonly authVersion: number
    /** Unix seconds. */
    readonly expiresAt: number
  }
>

export type AccessTokenRevoked = Fact<'AccessTokenRevoked', UserReference>

/** `step` (of 30 s, since 1970) belongs to the confirming code, which is thereby used up. */
export type TotpEnabled = Fact<
  'TotpEnabled',
  UserReference & { readonly secretRef: string; readonly step: number }
>

export type TotpStepUsed = Fact<'TotpStepUsed', UserReference & { readonly step: number }>

export type TotpDisabled = Fact<'TotpDisabled', UserReference>

/** Keyed hashes; empty when no second factor is left. */
export type RecoveryCodesReplaced = Fact<
  'RecoveryCodesReplaced',
  UserReference & { readonly codeHashes: readonly string[] }
>

export type RecoveryCodeUsed = Fact<
  'RecoveryCodeUsed',
  UserReference & { readonly codeHash: string }
>

export type PasskeyAdded = Fact<
  'PasskeyAdded',
  UserReference & {
    readonly passkeyId: number
    readonly name: Sealed
    /** The data that signatures are verified with, as JSON: id, public key, transports, site. */
    readonly credential: Sealed
    /** A keyed hash of the credential id that the authenticator assigned. */
    readonly credentialHash: string
    readonly counter: number
  }
>

export type PasskeyRenamed = Fact<
  'PasskeyRenamed',
  UserReference & { readonly passkeyId: number; readonly name: Sealed }
>

export type PasskeyUsed = Fact<
  'PasskeyUsed',
  UserReference & { readonly passkeyId: number; readonly counter: number }
>

export type PasskeyRemoved = Fact<'PasskeyRemoved', UserReference & { readonly passkeyId: number }>

/**
 * An admin removed the second factor: the password alone is enough to log in, and recovery codes
 * are void.
 */
export type SecondFactorReset = Fact<
  'SecondFactorReset',
  UserReference & { readonly passkeyIds: readonly number[] }
>

/** The user was deleted: no credential is left to log in with. */
export type CredentialsForgotten = Fact<
  'CredentialsForgotten',
  UserReference & { readonly passkeyIds: readonly number[] }
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
