import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { DeleteChannels } from '#write-api/contract/channel.ts'
import type { Act } from '../act.ts'
import { refused } from '../refusals.ts'
import { deleteMany } from './delete-many.ts'

/** POST /api/channel/batch: deletes all of these, or none; answers how many they were. */
export const deleteChannels: Act = (api, deps) => {
  api.post(
    '/api/channel/batch',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Delete several channels, all or none; answers how many',
        body: DeleteChannels,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const channelIds = request.body.ids
      if (channelIds.length === 0) throw refused('NoChannelToDelete')
      const command = { type: 'DeleteChannels', channelIds } as const
      return success(await deleteMany(deps, request, reply, command))
    },
  )
}
