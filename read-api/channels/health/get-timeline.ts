import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { notFound } from '#infra/http/http-errors.ts'
import { ChannelTimeline } from '../../contract/channel-timeline.ts'
import { Envelope } from '../../contract/envelope.ts'
import {
  type App,
  IdParams,
  pageOf,
  Query,
  type ReadDeps,
  upToDate,
  wholeOf,
} from '../../question.ts'
import { timelineAnswer } from './timeline-answer.ts'

const TimelineQuery = Type.Object({
  ...Query.page,
  /** Unix seconds, both ends included. */
  from: Query.whole,
  to: Query.whole,
  at: Query.whole,
})

/** Nothing happens after it. */
const FOREVER_SECONDS = 9_999_999_999

/**
 * `GET /api/channel/{id}/timeline?from&to&p&at`, for admins: what happened to a channel, newest
 * first; and with `at` how it stood at that moment, and what had made it so.
 */
export function getTimeline(app: App, deps: ReadDeps): void {
  app.get(
    '/api/channel/:id/timeline',
    {
      schema: {
        summary: 'What happened to a channel, and how it stood at a moment',
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
        throw notFound({ zh: '渠道未找到，请刷新页面后重试。', en: 'No such channel' })
      }
      return success(answer)
    },
  )
}

function secondsOf(given: string | undefined): number | undefined {
  const whole = wholeOf(given)
  return whole === undefined ? undefined : Math.min(whole, FOREVER_SECONDS)
}
