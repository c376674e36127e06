import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { tokenDecider } from '#domain/token/decide.ts'
import { tokenStream } from '#domain/token/events.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'

/** DELETE /api/token/{id}/: the key stops working and what it had left is closed. */
export const deleteToken: Act = (api, parts) => {
  api.delete(
    '/api/token/:id/',
    {
      onRequest: onlyUser,
      schema: { summary: 'Delete a token', params: IdParams, response: { 200: Done } },
    },
    async (request, reply) => {
      const tokenId = idOf(request.params)
      const { userId } = principalOf(request)
      const { actors, vault } = parts.core
      const { token } = await actors.stateOf(tokenDecider, tokenStream(tokenId))
      const outcome = await actors.handleTogether(
        [
          {
            decider: tokenDecider,
            stream: tokenStream(tokenId),
            command: { type: 'DeleteToken', userId },
          },
          {
            decider: accountDecider,
            stream: accountStream(userId),
            command: { type: 'CloseTokenBudget', userId, tokenId },
          },
        ],
        contextOf(parts, request),
      )
      const { position } = accepted(outcome)
      if (token !== null) await vault.deleteSecret(token.keyRef)
      await visibleIn(parts, reply, ['tokens', 'balances'], position)
      return done()
    },
  )
}
