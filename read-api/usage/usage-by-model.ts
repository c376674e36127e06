import { toWire } from '#domain/shared/quota.ts'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import { success } from '#infra/http/response-envelope.ts'
import { usagePoints } from '#projections/usage/query.ts'
import { userIdByName } from '#projections/users/query.ts'
import { type UsageRange, usageQueries } from '../contract/usage.ts'
import { type App, integerOf, type ReadDeps, textOf, upToDate } from '../read-route-helpers.ts'

const DAY = 86_400
const DEFAULT_SPAN = 7 * DAY
const SPAN_MAX = 100 * DAY

/**
 * Returns the requested range in Unix seconds. The default is the last week. Throws a 400 if the
 * range is longer than 100 days.
 */
export function usageRange(query: UsageRange, now: number): { from: number; to: number } {
  const to = integerOf(query.end_timestamp) ?? Math.floor(now / 1_000)
  const from = integerOf(query.start_timestamp) ?? Math.max(0, to - DEFAULT_SPAN)
  if (to - from <= SPAN_MAX) return { from, to }
  throw invalidField('start_timestamp', {
    zh: '时间范围不能超过 100 天',
    en: 'must be at most 100 days before end_timestamp',
  })
}

const HOUR = 3_600

/**
 * `GET /api/data/` (for admins: all users, or one user by name) and `GET /api/data/self/`: the
 * charges by hour and model. An hour that is only partly in the range counts in full.
 */
export function usageData(app: App, deps: ReadDeps): void {
  const fresh = upToDate(deps, 'usage-by-hour')
  app.route({
    ...endpoint(usageQueries, 'GET /api/data/'),
    onRequest: onlyAdmin,
    preHandler: fresh,
    handler: async ({ query }) => {
      const username = textOf(query.username)
      if (username === undefined) return respond(deps, query, undefined)
      const userId = await userIdByName(deps.core.db, username)
      return userId === null ? success([]) : respond(deps, query, userId)
    },
  })
  app.route({
    ...endpoint(usageQueries, 'GET /api/data/self/'),
    onRequest: onlyUser,
    preHandler: fresh,
    handler: (request) => respond(deps, request.query, principalOf(request).userId),
  })
}

async function respond({ core }: ReadDeps, query: UsageRange, userId: number | undefined) {
  const { from, to } = usageRange(query, core.now())
  const points = await usagePoints(core.db, {
    ...(userId === undefined ? {} : { userId }),
    fromHour: from - (from % HOUR),
    toHour: to,
  })
  return success(
    points.map(({ hour, model, count, quota, tokens }) => ({
      created_at: hour,
      model_name: model,
      count,
      quota: toWire(quota),
      token_used: tokens,
    })),
  )
}
