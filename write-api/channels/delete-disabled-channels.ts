import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { relayChannels } from '#projections/channels/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { deleteMany } from './delete-many.ts'

const ENABLED = 1

/** DELETE /api/channel/disabled: deletes what is off, by hand or by itself; answers how many. */
export const deleteDisabledChannels: Act = (api, parts) => {
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
      const { rows } = await relayChannels(parts.core.db)
      const ids = rows.filter(({ status }) => status !== ENABLED).map(({ id }) => id)
      const { count, position } = await deleteMany(parts, ids, contextOf(parts, request))
      await visibleIn(parts, reply, ['channels'], position)
      return success(count)
    },
  )
}
