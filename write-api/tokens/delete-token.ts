import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'
import { removeTokens } from './remove-tokens.ts'

/** DELETE /api/token/{id}/. */
export const deleteToken: Act = (api, deps) => {
  api.delete(
    '/api/token/:id/',
    {
      onRequest: onlyUser,
      schema: { summary: 'Delete a token', params: IdParams, response: { 200: Done } },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const context = contextOf(deps, request)
      const position = await removeTokens(deps, userId, [idOf(request.params)], context)
      await visibleIn(deps, reply, ['tokens', 'balances'], position)
      return done()
    },
  )
}
