import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import type { Act } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'
import { deleteMany } from './delete-many.ts'

/** DELETE /api/channel/{id}/: no call goes there any more. */
export const deleteChannel: Act = (api, deps) => {
  api.delete(
    '/api/channel/:id/',
    {
      onRequest: onlyAdmin,
      schema: { summary: 'Delete a channel', params: IdParams, response: { 200: Done } },
    },
    async (request, reply) => {
      const command = { type: 'DeleteChannels', channelIds: [idOf(request.params)] } as const
      await deleteMany(deps, request, reply, command)
      return done()
    },
  )
}
