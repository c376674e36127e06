import type { Identity } from '../users/identity-key.ts'

/** The user's account at the provider. */
export type Profile = {
  readonly identity: Identity
  /**
   * The user's name at the provider. It may be invalid as a username of this site. It is empty if
   * the provider sends no name.
   */
  readonly username: string
  readonly displayName: string
}

/**
 * The values that are chosen when the browser is redirected to the provider. They are stored on the
 * server only.
 */
export type AuthorizationParams = {
  /** The redirect URI. It is empty if only the provider's configuration contains it. */
  readonly redirectUri: string
  /** The PKCE verifier (RFC 7636). It is empty if the client redirected the browser itself. */
  readonly verifier: string
  /** The nonce of the ID token. It is empty if the client redirected the browser itself. */
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
   * Returns the profile of the user. Throws `ProviderFailed` if the provider did not identify a
   * user.
   */
  readonly profileOf: (params: AuthorizationParams, callback: CallbackParams) => Promise<Profile>
}

/** Thrown when a provider is unreachable, rejects the request or sends an invalid response. */
export class ProviderFailed extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'ProviderFailed'
  }
}

/**
 * Converts a value from a provider to text. The value must be a string or a number. Other values,
 * and texts that are too long, become an empty text.
 */
export function plainText(value: unknown, lengthMax = 255): string {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.length <= lengthMax ? text.trim() : ''
}
