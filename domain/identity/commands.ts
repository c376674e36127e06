import type { IdentityProvider } from './events.ts'

type OfIdentity = {
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly userId: number
}

export type ClaimIdentity = OfIdentity & { readonly type: 'ClaimIdentity' }

export type ReleaseIdentity = OfIdentity & { readonly type: 'ReleaseIdentity' }

export type IdentityCommand = ClaimIdentity | ReleaseIdentity
