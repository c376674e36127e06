import { identityDecider } from '#domain/identity/decide.ts'
import { IDENTITY_PROVIDERS, identityStream } from '#domain/identity/events.ts'
import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import type { KnownUser } from '#domain/user/state.ts'
import type { Core } from '#infra/core.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/actors-port.ts'
import { findUserByIdentity, type UserRow } from '#projections/users/query.ts'
import { accepted, type Deps } from '../action.ts'
import { type Identity, identityKeyOf } from './identity.ts'
import { userError } from './user-errors.ts'

/**
 * Binds an identity that its owner has proved to a user; answers the position of the write. A mail
 * address takes the place of the one before. Throws `IdentityTaken` when it is somebody else's, and
 * `ProviderBound` when the user has another account of that provider, to be let go of first.
 */
export function bindIdentity(
  deps: Deps,
  userId: number,
  identity: Identity,
  context: CommandContext,
): Promise<number> {
  const { actors } = deps.core
  const stream = userStream(userId)
  return deps.runExclusive(stream, async () => {
    const { user } = await actors.stateOf(userDecider, stream)
    if (user === null || user.isDeleted) throw userError('UserUnknown')
    const bound = user.identities[identity.provider] ?? null
    const { provider } = identity
    const isAnother = bound !== null && bound !== identityKeyOf(deps.core.vault, identity)
    if (isAnother && provider !== 'email') throw userError('ProviderBound', { provider })
    const steps = await bindSteps(deps, userId, identity, bound)
    return accepted(await actors.handleTogether(steps, context)).position
  })
}

/** `bound`: the key of the identity of this provider that the user has now. */
export async function bindSteps(
  { core }: Pick<Deps, 'core'>,
  userId: number,
  identity: Identity,
  bound: string | null,
): Promise<AnyStep[]> {
  const { provider } = identity
  const identityKey = identityKeyOf(core.vault, identity)
  const bind = {
    type: 'BindIdentity',
    provider,
    identityKey,
    identity: await core.vault.seal(userId, identity.id),
    replaces: bound,
  }
  const steps = [
    ofIdentity('ClaimIdentity', { provider, identityKey, userId }),
    { decider: userDecider, stream: userStream(userId), command: bind },
  ]
  if (bound === null || bound === identityKey) return steps
  return [...steps, ofIdentity('ReleaseIdentity', { provider, identityKey: bound, userId })]
}

/** Lets go of all of them: they may be anybody's from now on. */
export const releaseSteps = (userId: number, bound: KnownUser['identities']): AnyStep[] =>
  IDENTITY_PROVIDERS.flatMap((provider) => {
    const identityKey = bound[provider]
    if (identityKey === undefined) return []
    return [ofIdentity('ReleaseIdentity', { provider, identityKey, userId })]
  })

export const ofIdentity = (
  type: 'ClaimIdentity' | 'ReleaseIdentity',
  of: {
    readonly provider: Identity['provider']
    readonly identityKey: string
    readonly userId: number
  },
): AnyStep => ({
  decider: identityDecider,
  stream: identityStream(of.provider, of.identityKey),
  command: { type, ...of },
})

/** `address` as `mailAddressOf` spells it. */
export const mailIdentity = (address: string): Identity => ({ provider: 'email', id: address })

/** Whose address it is; null when it is nobody's, or of an account that is gone. */
export async function findMailOwner(
  { db, vault }: Pick<Core, 'db' | 'vault'>,
  address: string,
): Promise<UserRow | null> {
  const key = identityKeyOf(vault, mailIdentity(address))
  const owner = await findUserByIdentity(db, 'email', key)
  return owner === null || owner.isDeleted ? null : owner
}
