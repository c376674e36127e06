import type { Identity } from '../users/identity-key.ts'

/** The user's account at the provider. */
export type Profile = {
  readonly identity: Identity
  /**
   * The name at the provider, which can be invalid as a username of this site; empty when unknown.
   */
  readonly username: string
  readonly displayName: string
}

/**
 * Values that are fixed when the browser is redirected to the provider. The values are stored only
 * on the server.
 */
export type AuthorizationParams = {
  /** The redirect URI; empty when it is configured at the provider. */
  readonly redirectUri: string
  /** The PKCE verifier (RFC 7636); empty when the client redirected the browser itself. */
  readonly verifier: string
  /** The nonce of the ID token; empty when the client redirected the browser itself. */
  readonly nonce: string
}

export type CallbackParams = {
  readonly code: string
  readonly state: string
  readonly iss?: string
}

/** An OAuth provider that redirects the browser back with a code. */
export type OAuthProvider = {
  readonly authorizeUrl: (params: AuthorizationParams, state: string) => Promise<string>
  /** Returns the profile of the user. Throws `ProviderFailed` when no user was identified. */
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
 * Converts a provider's string or number to text. Other values and texts that are too long become
 * an empty text.
 */
export function plainText(value: unknown, lengthMax = 255): string {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.length <= lengthMax ? text.trim() : ''
}
