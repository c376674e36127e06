import type { FastifyRequest } from 'fastify'
import { principalIfAny } from '#infra/http/access.ts'
import { afterPosition } from '#infra/http/after-position.ts'
import { success } from '#infra/http/envelope.ts'
import { findUser } from '#projections/users/query.ts'
import { Pricing } from '../contract/pricing.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'
import { createSitePrices, PRICE_READ_MODELS, type Viewer } from './site-prices.ts'

/** Whose prices a visitor is shown: those of whoever registers. */
const VISITORS_GROUP = 'default'

/** `GET /api/pricing`: what can be called, and its price in the groups of who asks: anybody may. */
export function getPricing(app: App, deps: ReadDeps): void {
  const pricesFor = createSitePrices(deps)
  app.get(
    '/api/pricing',
    {
      schema: { response: { 200: Pricing } },
      preHandler: upToDate(deps, ...PRICE_READ_MODELS),
    },
    async (request) => {
      const viewer = await viewerOf(deps, request)
      const { data, ...groups } = await pricesFor(viewer, afterPosition(request) ?? 0)
      return { ...success(data), ...groups, user_group: viewer.group }
    },
  )
}

async function viewerOf({ core }: ReadDeps, request: FastifyRequest): Promise<Viewer> {
  const principal = await principalIfAny(request)
  if (principal === null) return { group: VISITORS_GROUP, acceptsUnpriced: false }
  const user = await findUser(core.db, principal.userId)
  return {
    group: principal.group,
    acceptsUnpriced: user?.settings.acceptUnsetModelRatioModel === true,
  }
}
