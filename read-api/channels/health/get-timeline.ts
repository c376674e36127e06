import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/http-errors.ts'
import { ChannelTimeline } from '../../contract/channel-timeline.ts'
import { Envelope } from '../../contract/envelope.ts'
import {
  type App,
  IdParams,
  integerOf,
  pageOf,
  Query,
  type ReadDeps,
  upToDate,
} from '../../route.ts'
import { timelineAnswer } from './timeline-answer.ts'

const TimelineQuery = Type.Object({
  ...Query.page,
  /** Unix seconds; both ends are inclusive. */
  from: Query.integer,
  to: Query.integer,
  at: Query.integer,
})

/** Later than any event. */
const FOREVER_SECONDS = 9_999_999_999

/**
 * `GET /api/channel/{id}/timeline?from&to&p&at`, for admins: the history of a channel, newest
 * first. With `at`, also its state at that moment and the entry that caused it.
 */
export function getTimeline(app: App, deps: ReadDeps): void {
  app.get(
    '/api/channel/:id/timeline',
    {
      schema: {
        summary: 'Get the history of a channel, and its state at a moment',
        params: IdParams,
        querystring: TimelineQuery,
        response: { 200: Envelope(ChannelTimeline) },
      },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'channel-timeline'),
    },
    async ({ params, query }) => {
      const at = secondsOf(query.at)
      const answer = await timelineAnswer(deps.core, {
        channelId: Number(params.id),
        from: (secondsOf(query.from) ?? 0) * 1_000,
        to: (secondsOf(query.to) ?? FOREVER_SECONDS) * 1_000 + 999,
        at: at === undefined ? null : at * 1_000 + 999,
        ...pageOf(query),
      })
      if (answer === null) {
        throw notFound({ zh: '渠道未找到，请刷新页面后重试。', en: 'The channel does not exist' })
      }
      return success(answer)
    },
  )
}

function secondsOf(text: string | undefined): number | undefined {
  const seconds = integerOf(text)
  return seconds === undefined ? undefined : Math.min(seconds, FOREVER_SECONDS)
}
