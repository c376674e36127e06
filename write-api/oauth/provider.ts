import type { Identity } from '../users/identity.ts'

/** The user as the provider identifies them. */
export type Profile = {
  readonly identity: Identity
  /** The name at the provider, which may be invalid here. Empty if unknown. */
  readonly username: string
  readonly displayName: string
}

/** Values fixed when the browser is redirected. They stay on the server. */
export type AuthorizationParams = {
  /** Empty if the provider has the redirect URI configured. */
  readonly redirectUri: string
  /** The PKCE verifier (RFC 7636); empty if the client redirected by itself. */
  readonly verifier: string
  /** The nonce of the ID token; empty if the client redirected by itself. */
  readonly nonce: string
}

export type CallbackParams = {
  readonly code: string
  readonly state: string
  readonly iss?: string
}

/** A provider that redirects the browser back with a code. */
export type OAuthProvider = {
  readonly authorizeUrl: (params: AuthorizationParams, state: string) => Promise<string>
  /** Rejects with `ProviderFailed` if no user is identified. */
  readonly profileOf: (params: AuthorizationParams, callback: CallbackParams) => Promise<Profile>
}

/** The provider is unreachable, rejects the request or sends an invalid response. */
export class ProviderFailed extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'ProviderFailed'
  }
}

/**
 * Converts a provider's string or number to text; anything else or longer becomes an empty string.
 */
export function plainText(value: unknown, lengthMax = 255): string {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.length <= lengthMax ? text.trim() : ''
}
