import { toWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { readPositions } from '#projections/read-model-freshness/query.ts'
import { siteSpent, topChannels, topModels, topUsers } from '#projections/usage/query.ts'
import { type SiteUsage, usageQueries } from '../contract/usage.ts'
import { type App, type ReadDeps, upToDate } from '../read-route-helpers.ts'
import { usageRange } from './usage-by-model.ts'

const HOUR = 3_600
const TOP = 10

/**
 * `GET /api/data/site`, for admins: the totals of the site, the users, models and channels with the
 * highest charges, and the lag of the read models.
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
 * Returns how far the slowest read model lags behind. The position of the latest event is read
 * first, so that events that are appended meanwhile do not count as lag.
 */
async function lagOf(core: Core): Promise<SiteUsage['lag']> {
  const head = await core.store.headPosition()
  const [slowest] = [...(await readPositions(core))].sort(([, one], [, other]) => one - other)
  const [read_model, position] = slowest ?? ['', head]
  return { head, behind: Math.max(0, head - position), read_model }
}
