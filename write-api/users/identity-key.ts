import type { IdentityProvider } from '#domain/identities/events.ts'
import type { Vault } from '#infra/vault/port.ts'

export type Identity = {
  readonly provider: IdentityProvider
  /**
   * The provider's immutable account id, or an email address. Users can see the ids of their own
   * identities.
   */
  readonly id: string
  /**
   * The authority that issued the id: the origin of the login page, or the OIDC issuer. It is
   * omitted for providers whose authority cannot be configured.
   */
  readonly authority?: string
}

/**
 * Returns a keyed hash of the identity. The hash is stored instead of the identity itself. Email
 * addresses that differ only in case have the same hash.
 */
export function identityKeyOf(vault: Pick<Vault, 'keyedHash'>, identity: Identity): string {
  const { provider, id, authority = '' } = identity
  const text = provider === 'email' ? id.normalize('NFKC').trim().toLowerCase() : id
  return vault.keyedHash('identity', JSON.stringify([provider, authority, text]))
}
