import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
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

type IdentityReference = {
  readonly provider: IdentityProvider
  readonly identityKey: string
  readonly userId: number
}

export type IdentityClaimed = Fact<'IdentityClaimed', IdentityReference>

/** The user released the identity, so that any user can claim it. */
export type IdentityReleased = Fact<'IdentityReleased', IdentityReference>

export type IdentityEvent = IdentityClaimed | IdentityReleased

/** `userId` is null while no user has claimed the identity. */
type IdentityState = { readonly userId: number | null }

/**
 * The decider of one identity. The first user who claims the identity owns it until this user
 * releases it.
 */
export const identityDecider: Decider<
  IdentityState,
  IdentityCommand,
  IdentityEvent,
  IdentityError
> = {
  initialState: () => ({ userId: null }),
  decide: ({ type, ...data }, state) => {
    if (type === 'ReleaseIdentity') {
      return state.userId === data.userId ? [{ type: 'IdentityReleased', v: 1, data }] : []
    }
    if (state.userId === data.userId) return []
    if (state.userId !== null) return codedError('IdentityTaken', { provider: data.provider })
    return [{ type: 'IdentityClaimed', v: 1, data }]
  },
  evolve: (_state, { type, data }) => ({
    userId: type === 'IdentityClaimed' ? data.userId : null,
  }),
}

type ClaimIdentity = IdentityReference & { readonly type: 'ClaimIdentity' }

type ReleaseIdentity = IdentityReference & { readonly type: 'ReleaseIdentity' }

type IdentityCommand = ClaimIdentity | ReleaseIdentity

export type IdentityErrorCode = 'IdentityTaken'

type IdentityError = CodedError<IdentityErrorCode>
