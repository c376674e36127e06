import type { Identity } from '../users/identity-key.ts'

export type Profile = {
  readonly identity: Identity
  /** The name at the provider, possibly invalid as a username of this site, or empty. */
  readonly username: string
  readonly displayName: string
}

/**
 * The parameters of one login, which are set before the browser is redirected to the provider. They
 * are stored on the server only.
 */
export type AuthorizationParams = {
  /** The redirect URI, or empty if only the provider's configuration contains it. */
  readonly redirectUri: string
  /** The PKCE verifier (RFC 7636), or empty if the client redirected the browser itself. */
  readonly verifier: string
  /** The nonce of the ID token, or empty if the client redirected the browser itself. */
  readonly nonce: string
}

export type CallbackParams = {
  readonly code: string
  readonly state: string
  readonly iss?: string
}

/** An OAuth provider that redirects the browser back to this site with a code. */
export type OAuthProvider = {
  readonly authorizeUrl: (params: AuthorizationParams, state: string) => Promise<string>
  /**
   * Returns the user's profile. Throws `ProviderFailed` if the provider did not identify a user.
   */
  readonly profileOf: (params: AuthorizationParams, callback: CallbackParams) => Promise<Profile>
}

/** A provider is unreachable, rejects the request or sends an invalid response. */
export class ProviderFailed extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'ProviderFailed'
  }
}

/** Converts a string or a number to text. Other values and too long texts become empty. */
export function plainText(value: unknown, lengthMax = 255): string {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.length <= lengthMax ? text.trim() : ''
}
