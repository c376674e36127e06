import { userDecider } from '#domain/user/decide.ts'
import { userStream } from '#domain/user/events.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { Unbind } from '#write-api/contract/oauth.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { hasPasskeyAlone } from '../credentials/passkey-way-in.ts'
import { ofIdentity } from './bind-identity.ts'
import { waysOpen } from './ways-open.ts'

/** POST /api/user/unbind: lets go of one of the own identities, unless it is the last way in. */
export const unbindIdentity: Act = (api, parts) => {
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
      const { userId, role } = principalOf(request)
      const { core } = parts
      const stream = userStream(userId)
      const { values } = await allOptions(core.db)
      const position = await parts.turns(stream, async () => {
        const { user } = await core.actors.stateOf(userDecider, stream)
        const identityKey = user?.identities[provider]
        if (identityKey === undefined) return core.store.headPosition()
        const byPasskey = (await hasPasskeyAlone(parts, request)) ? (['passkey'] as const) : []
        const ways = [...waysOpen(values, role), ...byPasskey]
        const command = { type: 'UnbindIdentity', provider, identityKey, waysOpen: ways }
        const steps = [
          { decider: userDecider, stream, command },
          ofIdentity('ReleaseIdentity', { provider, identityKey, userId }),
        ]
        const context = contextOf(parts, request)
        return accepted(await core.actors.handleTogether(steps, context)).position
      })
      await visibleIn(parts, reply, ['users'], position)
      return done()
    },
  )
}
