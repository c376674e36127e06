import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  countMismatches,
  listMismatches,
} from '#projections/calls-with-other-model-or-cost/query.ts'
import { callQueries } from '../contract/calls.ts'
import {
  type App,
  integerOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'

const PAGE_SIZE = 50

/**
 * `GET /api/audit/calls`: the calls with the anomaly that the query selects. `other-model` (the
 * default): the answer names a model other than the one in the request to the provider.
 * `higher-cost`: the provider reported more than twice the expected cost. The expected cost is the
 * list price of the usage, multiplied by the channel's cost ratio.
 */
export function listMismatchedCalls(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(callQueries, 'GET /api/audit/calls'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'provider-mismatches', 'channels'),
    handler: async ({ query }) => {
      const limit = Number(query.limit ?? PAGE_SIZE)
      const rows = await listMismatches(deps.core.db, {
        anomaly: query.anomaly || 'other-model',
        channelId: integerOf(query.channel) ?? null,
        before: integerOf(query.cursor) ?? null,
        limit,
      })
      const items = rows.map((row) => ({
        ...{ position: row.position, created_at: row.createdAt, request_id: row.call },
        ...{ user_id: row.userId, channel_id: row.channelId, channel_name: row.channelName },
        ...{ model: row.model, sent_model: row.sentModel, answered_model: row.answeredModel },
      }))
      const last = rows.length === limit ? rows.at(-1) : undefined
      return success({ items, next_cursor: last === undefined ? null : String(last.position) })
    },
  })
}

/**
 * `GET /api/audit/other-models`: the number of calls of each channel whose answer names a model
 * other than the one in the request to the provider.
 */
export function countOtherModels(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(callQueries, 'GET /api/audit/other-models'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'provider-mismatches', 'channels'),
    handler: async () => {
      const sums = await countMismatches(deps.core.db, 'other-model')
      return success(
        sums.map(({ channelId, channelName, count, lastAt }) => ({
          ...{ channel_id: channelId, channel_name: channelName, count, last_at: lastAt },
        })),
      )
    },
  })
}
