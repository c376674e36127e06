import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { channelModels, servedModels } from '#projections/channels/query.ts'
import { channelQueries } from '../contract/channels.ts'
import { currentOptions } from '../options/option-routes.ts'
import { type App, type ReadDeps, upToDate } from '../read-route-helpers.ts'

/**
 * `GET /api/channel/models`, for admins: all models that have a price or that a channel names. `GET
 * /api/channel/models_enabled`, for admins: the models that enabled channels serve.
 */
export function listChannelModels(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.route({
    ...endpoint(channelQueries, 'GET /api/channel/models'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels', 'options'),
    handler: async () => {
      const [named, options] = await Promise.all([channelModels(core.db), currentOptions(core)])
      const priced = ['ModelRatio', 'ModelPrice'].flatMap((key) => [...options.members(key).keys()])
      return success([...new Set([...named, ...priced])].sort().map((id) => ({ id })))
    },
  })
  app.route({
    ...endpoint(channelQueries, 'GET /api/channel/models_enabled'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'channels'),
    handler: async () => {
      const served = await servedModels(core.db, deps.servedTypes, Math.floor(core.now() / 1_000))
      return success(served.map(({ model }) => model))
    },
  })
}
