import type { Fact } from '../shared/event.ts'

/** Where somebody is known by an id that never changes hands; an address of mail counts as one. */
export const IDENTITY_PROVIDERS = [
  'email',
  'github',
  'oidc',
  'linuxdo',
  'wechat',
  'telegram',
] as const
export type IdentityProvider = (typeof IDENTITY_PROVIDERS)[number]

/** One stream per identity ever claimed; `identityKey` is a keyed hash of the provider's id. */
export const identityStream = (provider: IdentityProvider, identityKey: string): string =>
  `identity-${provider}-${identityKey}`

type OfIdentity = {
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly userId: number
}

export type IdentityClaimed = Fact<'IdentityClaimed', OfIdentity>

/** Anybody may claim it from now on. */
export type IdentityReleased = Fact<'IdentityReleased', OfIdentity>

export type IdentityEvent = IdentityClaimed | IdentityReleased
