import { toWire } from '#domain/shared/quota.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { daysOfUser } from '#projections/usage/query.ts'
import { type TokenUsagePoint, usageQueries } from '../contract/usage.ts'
import { type App, type ReadDeps, upToDate } from '../read-route-helpers.ts'
import { usageRange } from './usage-by-model.ts'

const DAY = 86_400
const TOKENS_MAX = 50

/** `GET /api/data/self/tokens`: what the caller's tokens were charged, by token and UTC day. */
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
 * Returns, for each day, the usage that is not in the list of tokens. It belongs to tokens that are
 * not listed, or to no token. Corrections of charges can make it negative.
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
