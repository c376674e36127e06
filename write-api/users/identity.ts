import type { IdentityProvider } from '#domain/identity/events.ts'
import type { Vault } from '#infra/vault/port.ts'

/** As whom a provider knows somebody. */
export type Identity = {
  readonly provider: IdentityProvider
  /** The provider's immutable id, or the address of mail; shown to its user. */
  readonly id: string
  /** Whose id it is, where that is not fixed: the origin of the sign-in page, the issuer. */
  readonly authority?: string
}

/** Under which an identity is found without keeping it; cases of an address are one. */
export function identityKeyOf(vault: Pick<Vault, 'keyedHash'>, identity: Identity): string {
  const { provider, id, authority = '' } = identity
  const text = provider === 'email' ? id.normalize('NFKC').trim().toLowerCase() : id
  return vault.keyedHash('identity', JSON.stringify([provider, authority, text]))
}
