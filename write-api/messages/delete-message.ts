import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'
import { removeMessage } from './remove-message.ts'

/** DELETE /api/admin/messages/{id}: gone from every inbox and count, for good. */
export const deleteMessage: Act = (api, deps) => {
  api.delete(
    '/api/admin/messages/:id',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Delete a message and its text, for good',
        params: IdParams,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const context = contextOf(deps, request)
      const position = await removeMessage(deps, idOf(request.params), context)
      await visibleIn(deps, reply, ['messages'], position)
      return done()
    },
  )
}
