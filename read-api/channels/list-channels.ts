import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { listChannels } from '#projections/channels/query.ts'
import { Channel } from '../contract/channel.ts'
import { Envelope, Page } from '../contract/envelope.ts'
import { type App, pageOf, Query, type ReadParts, upToDate } from '../question.ts'
import { channelAnswer } from './channel-answer.ts'

const SearchChannels = Type.Object({
  ...Query.page,
  keyword: Query.text,
  group: Query.text,
  model: Query.text,
  id_sort: Query.flag,
  tag_mode: Query.flag,
})

/** `GET /api/channel/` and `/api/channel/search`, for admins; deleted ones are left out. */
export function listChannelRows(app: App, parts: ReadParts): void {
  for (const path of ['/api/channel/', '/api/channel/search']) {
    app.get(
      path,
      {
        schema: { querystring: SearchChannels, response: { 200: Envelope(Page(Channel)) } },
        preHandler: [onlyAdmin, upToDate(parts, 'channels')],
      },
      async ({ query }) => {
        const { page, limit, offset } = pageOf(query)
        const { rows, total } = await listChannels(parts.core.db, {
          keyword: query.keyword ?? '',
          group: query.group ?? '',
          model: query.model ?? '',
          isIdSort: query.id_sort === 'true',
          isTagMode: query.tag_mode === 'true',
          limit,
          offset,
        })
        return success({ items: rows.map(channelAnswer), page, total })
      },
    )
  }
}
