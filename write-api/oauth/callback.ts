import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { success } from '#infra/http/envelope.ts'
import { fault } from '#infra/http/faults.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CallbackQuery, EnteredOrBound, OAuthType } from '#write-api/contract/oauth.ts'
import { type Act, contextOf, type Deps, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { bindIdentity } from '../users/bind-identity.ts'
import { confirmed } from './confirmed.ts'
import { loginWithIdentity } from './identity-login.ts'
import { takeState, userOf } from './oauth-state.ts'
import type { Profile } from './provider.ts'

/** GET /api/oauth/{type}: logs in, registers or binds, as the state says. */
export const oauthCallback: Act = (api, deps) => {
  api.get(
    '/api/oauth/:type',
    {
      schema: {
        summary: 'Come back from another site: login data, or the message "bind"',
        params: Type.Object({ type: OAuthType }),
        querystring: CallbackQuery,
        response: { 200: Envelope(EnteredOrBound) },
      },
    },
    async (request, reply) => {
      const { type } = request.params
      const journey = await takeState(deps, request, request.query.state, type)
      // Without the nonce of our own sending, an ID token could be anybody's.
      if (type === 'oidc' && journey.nonce === '') throw refused('OAuthStateInvalid')
      const { bindTo } = journey
      if (bindTo !== null && (await userOf(request)) !== bindTo) throw fault('NotLoggedIn')
      const provider = await deps.providers.of(type)
      const profile = await confirmed(deps, type, () => provider.profileOf(journey, request.query))
      if (bindTo === null)
        return success(await loginWithIdentity(deps, request, reply, profile, journey))
      return bound(deps, request, reply, profile, bindTo)
    },
  )
}

/** Binds the identity to the user of this request, and says so as the console expects it. */
export async function bound(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { identity }: Pick<Profile, 'identity'>,
  userId: number,
) {
  const position = await bindIdentity(deps, userId, identity, contextOf(deps, request))
  await visibleIn(deps, reply, ['users'], position)
  return success(null, 'bind')
}
