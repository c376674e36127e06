import type { FastifyRequest } from 'fastify'
import { identityDecider } from '#domain/identities/decide.ts'
import {
  IDENTITY_PROVIDERS,
  type IdentityProvider,
  identityStream,
} from '#domain/identities/events.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { UserRecord } from '#domain/users/state.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { AnyStep, CommandContext, Outcome } from '#infra/event-store/stream-actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { findUserByIdentity, type UserRow } from '#projections/users/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { oauthActions } from '../contract/oauth.ts'
import { registrationActions } from '../contract/registration-password-reset-and-setup.ts'
import { requireRecentLogin } from '../credentials/identity-proof.ts'
import { canLogInWithPasskey } from '../credentials/passkeys.ts'
import { checkMailDomain, mailAddressOf } from '../mail/mail-address.ts'
import { verifyMailCode } from '../mail/mail-codes.ts'
import { loginError } from '../sessions/login-and-registration-errors.ts'
import {
  enabledLoginMethods,
  retryWhileLoginMethodsChange,
} from './enabled-login-methods-and-removal-retry.ts'
import { type Identity, identityKeyOf } from './identity-key.ts'
import { userError } from './user-errors.ts'
import { assertNotAnotherUsername } from './user-names.ts'

/**
 * Binds a verified identity to a user. A new email address replaces the current address. Throws
 * `IdentityTaken` if the identity belongs to another user. Throws `ProviderBound` if the user has
 * already bound another account of the provider.
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
    const currentKey = user.identities[identity.provider] ?? null
    const { provider } = identity
    const isOtherAccount =
      currentKey !== null && currentKey !== identityKeyOf(deps.core.vault, identity)
    if (isOtherAccount && provider !== 'email') throw userError('ProviderBound', { provider })
    const steps = await bindSteps(deps, userId, identity, currentKey)
    return accepted(await actors.handleTogether(steps, context)).position
  })
}

/**
 * Returns the steps (commands to single streams) that bind an identity to a user. `currentKey` is
 * the key of the identity to replace, or null.
 */
export async function bindSteps(
  { core }: Pick<Deps, 'core'>,
  userId: number,
  identity: Identity,
  currentKey: string | null,
): Promise<AnyStep[]> {
  const { provider } = identity
  const identityKey = identityKeyOf(core.vault, identity)
  const bind = {
    type: 'BindIdentity',
    provider,
    identityKey,
    identity: await core.vault.seal(userId, identity.id),
    replaces: currentKey,
  }
  const steps = [
    identityStep('ClaimIdentity', { provider, identityKey, userId }),
    { decider: userDecider, stream: userStream(userId), command: bind },
  ]
  if (currentKey === null || currentKey === identityKey) return steps
  return [...steps, identityStep('ReleaseIdentity', { provider, identityKey: currentKey, userId })]
}

/**
 * Returns the steps (commands to single streams) that release all identities of a user, so that
 * other users can bind them.
 */
export const releaseSteps = (userId: number, currentKey: UserRecord['identities']): AnyStep[] =>
  IDENTITY_PROVIDERS.flatMap((provider) => {
    const identityKey = currentKey[provider]
    if (identityKey === undefined) return []
    return [identityStep('ReleaseIdentity', { provider, identityKey, userId })]
  })

export const identityStep = (
  type: 'ClaimIdentity' | 'ReleaseIdentity',
  identity: {
    readonly provider: Identity['provider']
    readonly identityKey: string
    readonly userId: number
  },
): AnyStep => ({
  decider: identityDecider,
  stream: identityStream(identity.provider, identity.identityKey),
  command: { type, ...identity },
})

/**
 * Returns the identity for an email address. The address must be normalized with `mailAddressOf`.
 */
export const mailIdentity = (address: string): Identity => ({ provider: 'email', id: address })

/**
 * Returns the user who has bound an email address, or null if there is none or the user was
 * deleted.
 */
export async function findMailOwner(
  { db, vault }: Pick<Core, 'db' | 'vault'>,
  address: string,
): Promise<UserRow | null> {
  const key = identityKeyOf(vault, mailIdentity(address))
  const owner = await findUserByIdentity(db, 'email', key)
  return owner === null || owner.isDeleted ? null : owner
}

/**
 * GET /api/oauth/email/bind: binds an email address with the code that was mailed to this address.
 */
export const bindMail: Action = (api, deps) => {
  api.route({
    ...endpoint(registrationActions, 'GET /api/oauth/email/bind'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      await requireRecentLogin(deps, request)
      const { email, code } = request.query
      const address = mailAddressOf(email)
      if (code.trim() === '') throw loginError('MailCodeRequired')
      const { values } = await allOptions(deps.core.db)
      checkMailDomain(values, address)
      const isRight = await verifyMailCode(deps.core, request, `bind:${userId}`, { address, code })
      if (!isRight) throw loginError('MailCodeWrong')
      await assertNotAnotherUsername(deps.core, address, userId)
      const context = contextOf(deps, request)
      const position = await bindIdentity(deps, userId, mailIdentity(address), context)
      await waitUntilVisible(deps, reply, ['users'], position)
      return done()
    },
  })
}

/**
 * POST /api/user/unbind: unbinds an identity. The last login method cannot be removed. Requires a
 * recent login or proof of identity, so that a stolen session cannot remove the owner's login
 * methods.
 */
export const unbindIdentity: Action = (api, deps) => {
  api.route({
    ...endpoint(oauthActions, 'POST /api/user/unbind'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      const { provider } = request.body
      const { userId } = principalOf(request)
      await requireRecentLogin(deps, request)
      const outcome = await deps.runExclusive(userStream(userId), () =>
        retryWhileLoginMethodsChange(() => unbind(deps, request, provider)),
      )
      await waitUntilVisible(deps, reply, ['users'], accepted(outcome).position)
      return done()
    },
  })
}

async function unbind(
  deps: Deps,
  request: FastifyRequest,
  provider: IdentityProvider,
): Promise<Outcome<Fact, CodedError>> {
  const { actors, store, db } = deps.core
  const { userId, role } = principalOf(request)
  const stream = userStream(userId)
  const { user } = await actors.stateOf(userDecider, stream)
  const identityKey = user?.identities[provider]
  if (identityKey === undefined) {
    return { isDone: true, events: [], position: await store.headPosition() }
  }
  const passkeyMethod = (await canLogInWithPasskey(deps, request)) ? ['passkey'] : []
  const { values } = await allOptions(db)
  const command = {
    type: 'UnbindIdentity',
    provider,
    identityKey,
    enabledLoginMethods: [...enabledLoginMethods(values, role), ...passkeyMethod],
    expectedRemovedLoginMethods: user?.removedLoginMethods,
  }
  const steps = [
    { decider: userDecider, stream, command },
    identityStep('ReleaseIdentity', { provider, identityKey, userId }),
  ]
  return actors.handleTogether(steps, contextOf(deps, request))
}
