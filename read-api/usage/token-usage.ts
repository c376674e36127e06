import Type from 'typebox'
import { toWire } from '#domain/shared/quota.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { tokenDays, userDays } from '#projections/usage-by-hour/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { TokenUsagePoint } from '../contract/usage.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'
import { UsageRange, usageRange } from './usage-data.ts'

const DAY = 86_400
const TOKENS_MAX = 50

/** `GET /api/data/self/tokens`: what one's tokens were charged, by day of UTC. */
export function tokenUsage(app: App, deps: ReadDeps): void {
  app.get(
    '/api/data/self/tokens',
    {
      schema: {
        summary: 'What your tokens were charged, by day (UTC); id 0 is the rest',
        querystring: Type.Object(UsageRange),
        response: { 200: Envelope(Type.Array(TokenUsagePoint)) },
      },
      onRequest: onlyUser,
      preHandler: upToDate(deps, 'usage-by-hour', 'tokens', 'balances'),
    },
    async (request) => {
      const { db, now } = deps.core
      const { userId } = principalOf(request)
      const { from, to } = usageRange(request.query, now())
      const days = { fromDay: from - (from % DAY), toDay: to }
      // The whole first: what is folded between the two reads is then left out, not negative.
      const whole = await userDays(db, userId, days)
      const named = await tokenDays(db, userId, days, TOKENS_MAX)
      return success([...named.map(pointOf), ...restOf(whole, named)])
    },
  )
}

type Spent = { readonly day: number; count: number; quota: bigint; tokens: number }
type Named = Spent & { readonly tokenId: number; readonly name: string }

const pointOf = ({ day, tokenId, name, count, quota, tokens }: Named): TokenUsagePoint => ({
  ...{ created_at: day, token_id: tokenId, token_name: name },
  ...{ count, quota: toWire(quota), token_used: tokens },
})

/** What is of no token, or of more tokens than are named. */
function restOf(whole: readonly Spent[], named: readonly Named[]): TokenUsagePoint[] {
  const ofDay = Map.groupBy(named, ({ day }) => day)
  return whole.flatMap((all) => {
    const known = ofDay.get(all.day) ?? []
    const rest = {
      ...{ day: all.day, tokenId: 0, name: '' },
      count: known.reduce((left, { count }) => left - count, all.count),
      quota: known.reduce((left, { quota }) => left - quota, all.quota),
      tokens: known.reduce((left, { tokens }) => left - tokens, all.tokens),
    }
    return rest.count > 0 && rest.quota >= 0n && rest.tokens >= 0 ? [pointOf(rest)] : []
  })
}
