import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/faults.ts'
import { findChannel } from '#projections/channels/query.ts'
import { Channel } from '../contract/channel.ts'
import { Envelope } from '../contract/envelope.ts'
import { type App, IdParams, type ReadDeps, upToDate } from '../question.ts'
import { channelAnswer } from './channel-answer.ts'

/** `GET /api/channel/{id}`, for admins. */
export function getChannel(app: App, deps: ReadDeps): void {
  app.get(
    '/api/channel/:id',
    {
      schema: { params: IdParams, response: { 200: Envelope(Channel) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'channels', 'channel-checks'),
    },
    async ({ params }) => {
      const row = await findChannel(deps.core.db, Number(params.id))
      if (row === null || row.isDeleted) {
        throw notFound({ zh: '渠道未找到，请刷新页面后重试。', en: 'No such channel' })
      }
      return success(channelAnswer(row, deps.core.now()))
    },
  )
}
