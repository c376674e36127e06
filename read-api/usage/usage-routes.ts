import { toWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { readPositions } from '#projections/read-model-freshness/query.ts'
import {
  daysOfUser,
  siteSpent,
  topChannels,
  topModels,
  topUsers,
  usagePoints,
} from '#projections/usage/query.ts'
import { userIdByName } from '#projections/users/query.ts'
import {
  type SiteUsage,
  type TokenUsagePoint,
  type UsageRange,
  usageQueries,
} from '../contract/usage.ts'
import {
  type App,
  integerOf,
  type ReadDeps,
  textOf,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'

const DAY = 86_400
const DEFAULT_SPAN = 7 * DAY
const SPAN_MAX = 100 * DAY

/**
 * Returns the requested range in Unix seconds. By default, the range ends now and starts 7 days
 * before its end. Throws a 400 if the range is longer than 100 days.
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

const HOUR = 3_600
const TOP = 10

/**
 * `GET /api/data/site`, for admins: the totals of the site and the lag of the read models. The
 * response also lists the 10 users, the 10 models and the 10 channels with the highest charges.
 */
export function siteUsage(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(usageQueries, 'GET /api/data/site'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'usage-by-hour', 'users', 'channels'),
    handler: async ({ query }) => {
      const { core } = deps
      const { from, to } = usageRange(query, core.now())
      const hours = { fromHour: from - (from % HOUR), toHour: to - (to % HOUR) }
      const [{ failed, ...totals }, users, models, channels, lag] = await Promise.all([
        siteSpent(core.db, hours),
        topUsers(core.db, hours, TOP),
        topModels(core.db, hours, TOP),
        topChannels(core.db, hours, TOP),
        lagOf(core),
      ])
      return success({
        totals: {
          ...spentOf(totals),
          ...costOf(totals),
          input_tokens: totals.inputTokens,
          cache_read_tokens: totals.cacheReadTokens,
          cache_saved: toWire(totals.cacheSaved),
          failed,
          users: users[0]?.users ?? 0,
        },
        top_users: users.map(({ userId: user_id, username, ...spent }) => ({
          user_id,
          username,
          ...spentOf(spent),
        })),
        top_models: models.map(({ model: model_name, ...spent }) => ({
          model_name,
          ...spentOf(spent),
          ...costOf(spent),
        })),
        top_channels: channels.map(({ channelId: channel_id, name, ...spent }) => ({
          channel_id,
          name,
          ...spentOf(spent),
          ...costOf(spent),
        })),
        lag,
      })
    },
  })
}

const spentOf = (spent: { count: number; quota: bigint; tokens: number }) => ({
  count: spent.count,
  quota: toWire(spent.quota),
  token_used: spent.tokens,
})

const costOf = ({ cost, costedQuota }: { cost: bigint; costedQuota: bigint }) => ({
  cost: toWire(cost),
  costed_quota: toWire(costedQuota),
})

/**
 * Returns by how many positions the slowest read model lags behind the latest event. The position
 * of the latest event is read before the positions of the read models. Events that are appended
 * between the two reads therefore do not count as lag.
 */
async function lagOf(core: Core): Promise<SiteUsage['lag']> {
  const head = await core.store.headPosition()
  const [slowest] = [...(await readPositions(core))].sort(([, one], [, other]) => one - other)
  const [read_model, position] = slowest ?? ['', head]
  return { head, behind: Math.max(0, head - position), read_model }
}

const TOKENS_MAX = 50

/** `GET /api/data/self/tokens`: the charges of the caller's tokens, by token and UTC day. */
export function dailyUsageByToken(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(usageQueries, 'GET /api/data/self/tokens'),
    onRequest: onlyUser,
    preHandler: upToDate(deps, 'usage-by-hour', 'tokens', 'balances'),
    handler: async (request) => {
      const { db, now } = deps.core
      const { userId } = principalOf(request)
      const { from, to } = usageRange(request.query, now())
      const days = { fromDay: from - (from % DAY), toDay: to }
      const { totals, perToken } = await daysOfUser(db, userId, days, TOKENS_MAX)
      return success([...perToken.map(pointOf), ...restOf(totals, perToken)])
    },
  })
}

type DayUsage = { readonly day: number; count: number; quota: bigint; tokens: number }
type TokenDayUsage = DayUsage & { readonly tokenId: number; readonly name: string }

const pointOf = ({ day, tokenId, name, count, quota, tokens }: TokenDayUsage): TokenUsagePoint => ({
  created_at: day,
  token_id: tokenId,
  token_name: name,
  count,
  quota: toWire(quota),
  token_used: tokens,
})

/**
 * Returns for each day the usage that `perToken` does not contain: the usage of other tokens, and
 * the usage of calls without a token. Corrections of charges can make this usage negative.
 */
function restOf(
  totals: readonly DayUsage[],
  perToken: readonly TokenDayUsage[],
): TokenUsagePoint[] {
  const byDay = Map.groupBy(perToken, ({ day }) => day)
  return totals.flatMap((all) => {
    const listed = byDay.get(all.day) ?? []
    const rest = {
      day: all.day,
      tokenId: 0,
      name: '',
      count: listed.reduce((left, { count }) => left - count, all.count),
      quota: listed.reduce((left, { quota }) => left - quota, all.quota),
      tokens: listed.reduce((left, { tokens }) => left - tokens, all.tokens),
    }
    return rest.count !== 0 || rest.quota !== 0n || rest.tokens !== 0 ? [pointOf(rest)] : []
  })
}
