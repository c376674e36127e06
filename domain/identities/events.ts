import type { Fact } from '../shared/event.ts'

/**
 * Login providers that identify a person by an immutable id. For `email`, the id is the address.
 */
export const IDENTITY_PROVIDERS = [
  'email',
  'github',
  'oidc',
  'linuxdo',
  'wechat',
  'telegram',
] as const

export type IdentityProvider = (typeof IDENTITY_PROVIDERS)[number]

/**
 * Returns the name of an identity's event stream. `identityKey` is a keyed hash of the person's id
 * at the provider, so that no readable id is stored.
 */
export const identityStream = (provider: IdentityProvider, identityKey: string): string =>
  `identity-${provider}-${identityKey}`

export type IdentityReference = {
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly userId: number
}

export type IdentityClaimed = Fact<'IdentityClaimed', IdentityReference>

/** The user released the identity, so that any user can claim it. */
export type IdentityReleased = Fact<'IdentityReleased', IdentityReference>

export type IdentityEvent = IdentityClaimed | IdentityReleased
