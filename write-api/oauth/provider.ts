import type { Identity } from '../users/identity.ts'

/** Whom a provider says that somebody is. */
export type Profile = {
  readonly identity: Identity
  /** What they are called there; may be no name to have here. Empty: nothing is known. */
  readonly username: string
  readonly displayName: string
}

/** What was fixed when the browser was sent away, kept here and never given to it. */
export type Trip = {
  /** Empty: the provider knows where to come back to. */
  readonly redirectUri: string
  /** PKCE (RFC 7636): empty when the browser was not sent by us. */
  readonly verifier: string
  /** Of the ID token: as above. */
  readonly nonce: string
}

export type Return = { readonly code: string; readonly state: string; readonly iss?: string }

/** A site that browsers are sent to, and come back from with a code. */
export type OAuthProvider = {
  readonly authorizeUrl: (trip: Trip, state: string) => Promise<string>
  /** Rejects with `ProviderFailed` when nobody is confirmed. */
  readonly profileOf: (trip: Trip, back: Return) => Promise<Profile>
}

/** The provider can't be reached, refuses, or says what makes no sense. */
export class ProviderFailed extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(why, options)
    this.name = 'ProviderFailed'
  }
}

/** Text of a provider as it is: a number or a text, and nothing of a length that nobody has. */
export function plainText(value: unknown, lengthMax = 255): string {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.length <= lengthMax ? text.trim() : ''
}
