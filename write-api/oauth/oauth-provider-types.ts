import type { Identity } from '../users/identity-key.ts'

export type Profile = {
  readonly identity: Identity
  /** The user's name at the provider. It may be empty or invalid as a username of this site. */
  readonly username: string
  readonly displayName: string
}

/**
 * The parameters of one login or binding. The server chooses and stores them before the browser is
 * redirected to the provider.
 */
export type AuthorizationParams = {
  /**
   * The redirect URI. It is empty if the provider is to use the URI in the provider's own
   * configuration.
   */
  readonly redirectUri: string
  /** The PKCE verifier (RFC 7636). It is empty if the client has redirected the browser itself. */
  readonly verifier: string
  /** The nonce of the ID token. It is empty if the client has redirected the browser itself. */
  readonly nonce: string
}

export type CallbackParams = {
  readonly code: string
  readonly state: string
  readonly iss?: string
}

/** A login provider that redirects the browser back to this site with a code. */
export type OAuthProvider = {
  readonly authorizeUrl: (params: AuthorizationParams, state: string) => Promise<string>
  /**
   * Returns the user's profile. Throws `ProviderFailed` if the provider did not identify a user.
   */
  readonly profileOf: (params: AuthorizationParams, callback: CallbackParams) => Promise<Profile>
}

/** Thrown if a provider is unreachable, rejects a request or sends an invalid response. */
export class ProviderFailed extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'ProviderFailed'
  }
}

/**
 * Converts a string or a number to text. Returns an empty text for any other value, and for a text
 * that is too long.
 */
export function plainText(value: unknown, lengthMax = 255): string {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.length <= lengthMax ? text.trim() : ''
}
