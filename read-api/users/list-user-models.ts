import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { servedModels } from '#projections/channels/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { optionsInForce } from '../options/options-in-force.ts'
import { type App, type ReadParts, upToDate } from '../question.ts'
import { usableGroups } from './usable-groups.ts'

/** `GET /api/user/models`: what enabled channels offer to the groups the user may use. */
export function listUserModels(app: App, parts: ReadParts): void {
  app.get(
    '/api/user/models',
    {
      schema: { response: { 200: Envelope(Type.Array(Type.String())) } },
      preHandler: [onlyUser, upToDate(parts, 'channels', 'options', 'users')],
    },
    async (request) => {
      const own = usableGroups(await optionsInForce(parts.core), principalOf(request).group)
      const served = await servedModels(parts.core.db)
      const models = served.filter(({ groups }) => groups.some((group) => own.has(group)))
      return success(models.map(({ model }) => model))
    },
  )
}
