import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { TokenIds } from '#write-api/contract/token.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { removeTokens } from './remove-tokens.ts'
import { idsChosen } from './token-choice.ts'

/** POST /api/token/batch: deletes all of them, or none; answers how many. */
export const deleteTokens: Act = (api, deps) => {
  api.post(
    '/api/token/batch',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'Delete several tokens, all or none',
        body: TokenIds,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const ids = idsChosen(request.body)
      const { userId } = principalOf(request)
      const position = await removeTokens(deps, userId, ids, contextOf(deps, request))
      await visibleIn(deps, reply, ['tokens', 'balances'], position)
      return success(ids.length)
    },
  )
}
