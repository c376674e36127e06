import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { optionQueries } from '../contract/options.ts'
import { type App, type ReadDeps, upToDate } from '../read-route-helpers.ts'

/**
 * `GET /api/option/price_units`, for admins: the units of the prices of the models whose names do
 * not tell them. Disabled channels count too, because a price is entered before they are enabled.
 */
export function listPriceUnits(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/price_units'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels'),
    handler: async () => success((await deps.readPriceUnits()).unitsUnlikeNames()),
  })
}
