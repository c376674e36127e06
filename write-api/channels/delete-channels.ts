import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { DeleteChannels } from '#write-api/contract/channel.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { deleteMany } from './delete-many.ts'

/** POST /api/channel/batch: deletes the channels of these ids; answers how many there were. */
export const deleteChannels: Act = (api, parts) => {
  api.post(
    '/api/channel/batch',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Delete several channels; answers how many',
        body: DeleteChannels,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const context = contextOf(parts, request)
      const { count, position } = await deleteMany(parts, request.body.ids, context)
      await visibleIn(parts, reply, ['channels'], position)
      return success(count)
    },
  )
}
