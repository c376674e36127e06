import type { IdentityProvider } from '#domain/identities/events.ts'
import type { Vault } from '#infra/vault/port.ts'

export type Identity = {
  readonly provider: IdentityProvider
  /** The provider's immutable id of the account, or an email address. The user can see this id. */
  readonly id: string
  /**
   * Who issued the id: the origin of the login page, or the OIDC issuer. Omitted if the issuer
   * cannot be configured.
   */
  readonly authority?: string
}

/**
 * Returns the keyed hash that is stored instead of the plain identity. Email addresses are
 * case-insensitive.
 */
export function identityKeyOf(vault: Pick<Vault, 'keyedHash'>, identity: Identity): string {
  const { provider, id, authority = '' } = identity
  const text = provider === 'email' ? id.normalize('NFKC').trim().toLowerCase() : id
  return vault.keyedHash('identity', JSON.stringify([provider, authority, text]))
}
