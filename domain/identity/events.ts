import type { Fact } from '../shared/event.ts'

/** Providers that identify a person by an immutable id. An email address counts as such an id. */
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
 * Each identity that was ever claimed has one stream; `identityKey` is a keyed hash of the
 * provider's id.
 */
export const identityStream = (provider: IdentityProvider, identityKey: string): string =>
  `identity-${provider}-${identityKey}`

type IdentityReference = {
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly userId: number
}

export type IdentityClaimed = Fact<'IdentityClaimed', IdentityReference>

/** The identity can be claimed again, by any user. */
export type IdentityReleased = Fact<'IdentityReleased', IdentityReference>

export type IdentityEvent = IdentityClaimed | IdentityReleased
