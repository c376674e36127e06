import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { optionQueries } from '../contract/options.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'

/**
 * `GET /api/option/price_units`, for admins: the models whose names tell another unit of their
 * price than channels bill, with these units. Disabled channels count too, because admins enter a
 * price before they enable its channels.
 */
export function listPriceUnits(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/price_units'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels'),
    handler: async () => success((await deps.readPriceUnits()).unitsUnlikeNames()),
  })
}
