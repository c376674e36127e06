import Type from 'typebox'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { StateQuery } from '#write-api/contract/oauth.ts'
import type { Act } from '../act.ts'
import { issueState } from './oauth-state.ts'

/**
 * GET /api/oauth/state: a state for whoever sends the browser to GitHub or LinuxDO by itself, or
 * shows Telegram's widget. OIDC needs `/api/oauth/authorize`, which sends a nonce along.
 */
export const oauthState: Act = (api, deps) => {
  api.get(
    '/api/oauth/state',
    {
      schema: {
        summary: 'A single-use state for another way in, bound to this browser',
        querystring: StateQuery,
        response: { 200: Envelope(Type.String()) },
      },
    },
    async (request, reply) => {
      const trip = { type: null, redirectUri: '' }
      const { state } = await issueState(deps, request, reply, request.query, trip)
      return success(state)
    },
  )
}
