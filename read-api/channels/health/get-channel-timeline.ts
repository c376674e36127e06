import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { notFound } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { timelineQueries } from '../../contract/channel-timeline.ts'
import {
  type App,
  integerOf,
  pageOf,
  type ReadDeps,
  upToDate,
} from '../../read-dependencies-and-query-parameters.ts'
import { timelineResponse } from './timeline-response.ts'

/**
 * The end of a range if the query has no end, in Unix seconds. No event is later than this time.
 */
const FOREVER_SECONDS = 9_999_999_999

/**
 * `GET /api/channel/{id}/timeline?from&to&p&at`, for admins: the history of a channel, newest
 * first. With `at`, the response also contains the channel's state at that time, and the entry that
 * led to this state.
 */
export function getTimeline(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(timelineQueries, 'GET /api/channel/:id/timeline'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channel-timeline'),
    handler: async ({ params, query }) => {
      const at = secondsOf(query.at)
      const response = await timelineResponse(deps.core, {
        channelId: Number(params.id),
        from: (secondsOf(query.from) ?? 0) * 1_000,
        to: (secondsOf(query.to) ?? FOREVER_SECONDS) * 1_000 + 999,
        at: at === undefined ? null : at * 1_000 + 999,
        ...pageOf(query),
      })
      if (response === null) {
        throw notFound('channel')
      }
      return success(response)
    },
  })
}

function secondsOf(text: string | undefined): number | undefined {
  const seconds = integerOf(text)
  return seconds === undefined ? undefined : Math.min(seconds, FOREVER_SECONDS)
}
