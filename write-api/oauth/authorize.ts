import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { Authorize, AuthorizeQuery } from '#write-api/contract/oauth.ts'
import type { Act } from '../act.ts'
import { confirmed } from './confirmed.ts'
import { issueState } from './oauth-state.ts'

/** GET /api/oauth/authorize: where to send the browser, with state, PKCE and nonce. */
export const authorize: Act = (api, deps) => {
  api.get(
    '/api/oauth/authorize',
    {
      schema: {
        summary:
          'Where to send the browser for another way in; sets a cookie that it comes back with',
        querystring: AuthorizeQuery,
        response: { 200: Envelope(Authorize) },
      },
    },
    async (request, reply) => {
      const { type, ...purpose } = request.query
      const provider = await deps.providers.of(type)
      const redirectUri = await deps.providers.redirectUri(type)
      const trip = { type, redirectUri }
      const { state, journey } = await issueState(deps, request, reply, purpose, trip)
      const url = await confirmed(deps, type, () => provider.authorizeUrl(journey, state))
      return success({ url })
    },
  )
}
