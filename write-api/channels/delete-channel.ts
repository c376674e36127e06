import { channelDecider } from '#domain/channel/decide.ts'
import { channelStream } from '#domain/channel/events.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'

/** DELETE /api/channel/{id}/: no call goes there any more. */
export const deleteChannel: Act = (api, parts) => {
  api.delete(
    '/api/channel/:id/',
    {
      onRequest: onlyAdmin,
      schema: { summary: 'Delete a channel', params: IdParams, response: { 200: Done } },
    },
    async (request, reply) => {
      const outcome = await parts.core.actors.handle(
        channelDecider,
        channelStream(idOf(request.params)),
        { type: 'DeleteChannel' },
        contextOf(parts, request),
      )
      await visibleIn(parts, reply, ['channels'], accepted(outcome).position)
      return done()
    },
  )
}
