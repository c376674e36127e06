import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { optionQueries } from '../contract/options.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'

/**
 * `GET /api/option/price_units`, for admins: the models that channels bill in another unit than the
 * name of the model indicates, with the units that the channels bill. Disabled channels count too,
 * because admins enter the price of a model before they enable the channels.
 */
export function listPriceUnits(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/price_units'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels'),
    handler: async () => success((await deps.readPriceUnits()).unitsUnlikeNames()),
  })
}
