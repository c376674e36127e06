import type { IdentityProvider } from '#domain/identity/events.ts'
import type { Vault } from '#infra/vault/port.ts'

/** An account at an identity provider. */
export type Identity = {
  readonly provider: IdentityProvider
  /** The provider's immutable id of the account, or an email address. The user can see this id. */
  readonly id: string
  /**
   * The authority that issued the id: the origin of the login page, or the OIDC issuer. It is
   * omitted if the authority of the provider cannot be configured.
   */
  readonly authority?: string
}

/**
 * Returns the keyed hash by which an identity is found. The hash is stored instead of the plain
 * identity. Email addresses are case-insensitive.
 */
export function identityKeyOf(vault: Pick<Vault, 'keyedHash'>, identity: Identity): string {
  const { provider, id, authority = '' } = identity
  const text = provider === 'email' ? id.normalize('NFKC').trim().toLowerCase() : id
  return vault.keyedHash('identity', JSON.stringify([provider, authority, text]))
}
