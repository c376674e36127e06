import type { FastifyRequest } from 'fastify'
import type { IdentityProvider } from '#domain/identities/events.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import type { Outcome } from '#infra/event-store/stream-actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { oauthActions } from '../contract/oauth.ts'
import { requireRecentLogin } from '../credentials/identity-proof.ts'
import { canLogInWithPasskey } from '../credentials/passkeys.ts'
import { identityStep } from './bind-identity.ts'
import { enabledLoginMethods, retryWhileLoginMethodsChange } from './enabled-login-methods.ts'

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
