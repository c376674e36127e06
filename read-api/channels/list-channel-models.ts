import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { channelModels, servedModels } from '#projections/channels/query.ts'
import { ModelEntry } from '../contract/channels.ts'
import { Envelope } from '../contract/envelope.ts'
import { currentOptions } from '../options/list-options.ts'
import { type App, type ReadDeps, upToDate } from '../route.ts'

/**
 * `GET /api/channel/models` (models that have a price or are named by a channel) and `GET
 * /api/channel/models_enabled` (models that enabled channels serve), for admins.
 */
export function listChannelModels(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.get(
    '/api/channel/models',
    {
      schema: { response: { 200: Envelope(Type.Array(ModelEntry)) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'channels', 'options'),
    },
    async () => {
      const [named, options] = await Promise.all([channelModels(core.db), currentOptions(core)])
      const priced = ['ModelRatio', 'ModelPrice'].flatMap((key) => [...options.members(key).keys()])
      return success([...new Set([...named, ...priced])].sort().map((id) => ({ id })))
    },
  )
  app.get(
    '/api/channel/models_enabled',
    {
      schema: { response: { 200: Envelope(Type.Array(Type.String())) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'channels'),
    },
    async () => {
      const served = await servedModels(core.db, deps.servedTypes, Math.floor(core.now() / 1_000))
      return success(served.map(({ model }) => model))
    },
  )
}
