import type { Client, Fact, Sealed } from '../shared/event.ts'

export const credentialsStream = (userId: number): string => `credentials-${userId}`

type UserReference = { readonly userId: number }

/**
 * The user got a new access token, which replaces any earlier access token. The token becomes
 * invalid when the user's `authVersion` increases.
 */
export type AccessTokenIssued = Fact<
  'AccessTokenIssued',
  UserReference & {
    /** The keyed hash of the access token. */
    readonly tokenHash: string
    readonly authVersion: number
    /** The time at which the access token expires, in Unix seconds. */
    readonly expiresAt: number
  }
>

export type AccessTokenRevoked = Fact<'AccessTokenRevoked', UserReference>

/**
 * The user enabled TOTP. `step` is the number of the time step (30 s each, since 1970) of the code
 * that confirmed the setup. This code cannot be used again.
 */
export type TotpEnabled = Fact<
  'TotpEnabled',
  UserReference & { readonly secretRef: string; readonly step: number }
>

export type TotpStepUsed = Fact<'TotpStepUsed', UserReference & { readonly step: number }>

export type TotpDisabled = Fact<'TotpDisabled', UserReference>

/**
 * All recovery codes were replaced. `codeHashes` is empty if the user no longer has a second
 * factor.
 */
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
    /** The JSON data for verifying signatures: id, public key, transports and site. */
    readonly credential: Sealed
    /** The keyed hash of the credential id that the authenticator assigned. */
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
 * An admin removed the second factor. The password alone is now sufficient for a login, and the
 * recovery codes are invalid.
 */
export type SecondFactorReset = Fact<
  'SecondFactorReset',
  UserReference & { readonly passkeyIds: readonly number[] }
>

/** The user was deleted, so all credentials were removed. */
export type CredentialsForgotten = Fact<
  'CredentialsForgotten',
  UserReference & { readonly passkeyIds: readonly number[] }
>

/**
 * The stream of a user's logins. This stream is separate from the stream of the credentials, so
 * that decisions about credentials do not have to read all logins.
 */
export const loginsStream = (userId: number): string => `logins-${userId}`

/** A session of the user was started. The IP address is encrypted with the user's data key. */
export type UserLoggedIn = Fact<
  'UserLoggedIn',
  UserReference & { readonly clientIp: Sealed; readonly isByPassword: boolean }
>

/**
 * The user ended sessions: the current one (a logout), another one, or all except the current one.
 */
export type SessionsEnded = Fact<
  'SessionsEnded',
  UserReference & { readonly which: 'current' | 'one' | 'others'; readonly count: number }
>

/**
 * The reason why a login failed. `throttled` means that the login was refused before the password
 * was checked.
 */
export type LoginFailure =
  | 'wrong-password'
  | 'unknown-user'
  | 'wrong-code'
  | 'wrong-passkey'
  | 'identity-rejected'
  | 'account-disabled'
  | 'method-disabled'
  | 'throttled'

/** The stream of failed logins that belong to no account. */
export const FAILED_LOGINS_STREAM = 'failed-logins'

/**
 * Failed logins of one account from one network in a period. Many attempts become one event, so
 * that an attacker cannot fill the event store. `client` has the IP address, or the network if
 * several addresses of the network were used. A login name that belongs to no user is never
 * recorded.
 */
export type LoginsFailed = Fact<
  'LoginsFailed',
  {
    /**
     * The user whose login failed. Null if no user has the login name, or if the login named no
     * user.
     */
    readonly userId: number | null
    readonly count: number
    readonly reasons: Readonly<Partial<Record<LoginFailure, number>>>
    /**
     * A keyed hash of the network, or null if `userId` is set. Without a user, there is no data key
     * that could encrypt the network.
     */
    readonly networkHash: string | null
    readonly client?: Client
    /** The times of the first and the last attempt in Unix milliseconds. */
    readonly firstAt: number
    readonly lastAt: number
  }
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
