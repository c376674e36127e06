import type { IdentityProvider } from '#domain/identity/events.ts'
import type { Vault } from '#infra/vault/port.ts'

/** An account at an identity provider. */
export type Identity = {
  readonly provider: IdentityProvider
  /** The provider's immutable id, or the mail address; shown to its user. */
  readonly id: string
  /**
   * The issuer of the id if it is configurable: the origin of the sign-in page, or the OIDC issuer.
   */
  readonly authority?: string
}

/**
 * The keyed hash that an identity is found by without storing it. Mail addresses are
 * case-insensitive.
 */
export function identityKeyOf(vault: Pick<Vault, 'keyedHash'>, identity: Identity): string {
  const { provider, id, authority = '' } = identity
  const text = provider === 'email' ? id.normalize('NFKC').trim().toLowerCase() : id
  return vault.keyedHash('identity', JSON.stringify([provider, authority, text]))
}
