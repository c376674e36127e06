import type { FastifyRequest } from 'fastify'
import type { IdentityProvider } from '#domain/identity/events.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { Refusal } from '#domain/shared/refusal.ts'
import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import type { Outcome } from '#infra/event-store/actors-port.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { Unbind } from '#write-api/contract/oauth.ts'
import { type Act, accepted, contextOf, type Deps, visibleIn } from '../act.ts'
import { hasPasskeyAlone } from '../credentials/passkey-way-in.ts'
import { requireRecent } from '../credentials/prove.ts'
import { ofIdentity } from './bind-identity.ts'
import { enabledLoginMethods } from './enabled-login-methods.ts'
import { whileWaysChange } from './while-ways-change.ts'

/**
 * POST /api/user/unbind: lets go of one of the own identities, unless it is the last way in. Who it
 * is was shown just now: of the owner's ways back, a stolen session takes none away.
 */
export const unbindIdentity: Act = (api, deps) => {
  api.post(
    '/api/user/unbind',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Unbind one of the own identities, while there is another way in',
        body: Unbind,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { provider } = request.body
      const { userId } = principalOf(request)
      await requireRecent(deps, request)
      const outcome = await deps.turns(userStream(userId), () =>
        whileWaysChange(() => unbind(deps, request, provider)),
      )
      await visibleIn(deps, reply, ['users'], accepted(outcome).position)
      return done()
    },
  )
}

async function unbind(
  deps: Deps,
  request: FastifyRequest,
  provider: IdentityProvider,
): Promise<Outcome<Fact, Refusal>> {
  const { actors, store, db } = deps.core
  const { userId, role } = principalOf(request)
  const stream = userStream(userId)
  const { user } = await actors.stateOf(userDecider, stream)
  const identityKey = user?.identities[provider]
  if (identityKey === undefined) {
    return { isDone: true, events: [], position: await store.headPosition() }
  }
  const byPasskey = (await hasPasskeyAlone(deps, request)) ? ['passkey'] : []
  const { values } = await allOptions(db)
  const command = {
    type: 'UnbindIdentity',
    provider,
    identityKey,
    enabledLoginMethods: [...enabledLoginMethods(values, role), ...byPasskey],
    ifWaysGone: user?.waysGone,
  }
  const steps = [
    { decider: userDecider, stream, command },
    ofIdentity('ReleaseIdentity', { provider, identityKey, userId }),
  ]
  return actors.handleTogether(steps, contextOf(deps, request))
}
