import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { IdentityEvent, IdentityReference } from './events.ts'

/** The owner of one identity. `userId` is null while no user owns the identity. */
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
