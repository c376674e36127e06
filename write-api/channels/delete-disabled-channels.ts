import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import type { Act } from '../act.ts'
import { deleteMany } from './delete-many.ts'

/** DELETE /api/channel/disabled: deletes what is off, by hand or by itself; answers how many. */
export const deleteDisabledChannels: Act = (api, deps) => {
  api.delete(
    '/api/channel/disabled',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Delete every disabled channel; answers how many',
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const now = Math.floor(deps.core.now() / 1_000)
      const command = { type: 'DeleteDisabledChannels', now } as const
      return success(await deleteMany(deps, request, reply, command))
    },
  )
}
