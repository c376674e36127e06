import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { notFound } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type ChannelStep, channelSteps } from '#projections/channel-stats/query.ts'
import { findChannel } from '#projections/channels/query.ts'
import {
  type HealthHistoryPoint,
  type HistoryRange,
  healthQueries,
} from '../../contract/channel-health.ts'
import { type App, type ReadDeps, upToDate } from '../../read-dependencies-and-query-parameters.ts'

/**
 * The number of time steps of each range, and the length of one step in seconds. The length is a
 * multiple of a minute, because the read model stores the figures by minute.
 */
const SPANS: Readonly<Record<HistoryRange, { readonly step: number; readonly steps: number }>> = {
  '1h': { step: 120, steps: 30 },
  '24h': { step: 1_800, steps: 48 },
  '7d': { step: 10_800, steps: 56 },
}

/**
 * `GET /api/channel/{id}/health_history?range=1h|24h|7d`, for admins: the numbers of successes and
 * failures of a channel, and its latencies, in equal time steps. The last step contains the current
 * time. The default range is 24 hours.
 */
export function getHealthHistory(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(healthQueries, 'GET /api/channel/:id/health_history'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels', 'channel-stats'),
    handler: async ({ params, query }) => {
      const { db, now } = deps.core
      const channelId = Number(params.id)
      if ((await findChannel(db, channelId)) === null) {
        throw notFound('channel')
      }
      const range = query.range ?? '24h'
      const { step, steps } = SPANS[range]
      const to = (Math.floor(now() / 1_000 / step) + 1) * step
      const from = to - step * steps
      const rows = await channelSteps(db, { channelId, from, to, stepSeconds: step })
      const stepsByTime = new Map(rows.map((one) => [one.at, one]))
      const points = Array.from({ length: steps }, (_, index) => {
        const at = from + index * step
        return pointOf(at, stepsByTime.get(at))
      })
      return success({ range, step, points })
    },
  })
}

function pointOf(at: number, step: ChannelStep | undefined): HealthHistoryPoint {
  const { successes = 0, failures = 0, latencyMs = null, firstTokenMs = null } = step ?? {}
  return { at, successes, failures, latency_ms: latencyMs, first_token_ms: firstTokenMs }
}

/** `GET /api/channel/health`, for admins: the current health of every channel. */
export function getHealth(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(healthQueries, 'GET /api/channel/health'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels', 'channel-health', 'channel-stats'),
    handler: async () => success(await deps.health.snapshot()),
  })
}
