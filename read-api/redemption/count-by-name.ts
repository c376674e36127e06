import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { countRedemptionsByName } from '#projections/redemptions/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'

const ByName = Type.Object({ name: Type.String({ maxLength: 200 }) })

/** `GET /api/redemption/count-by-name`: how many codes have exactly this name. */
export function countByName(app: App, deps: ReadDeps): void {
  app.get(
    '/api/redemption/count-by-name',
    {
      schema: { querystring: ByName, response: { 200: Envelope(Type.Integer()) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'redemptions'),
    },
    async ({ query }) => success(await countRedemptionsByName(deps.core.db, query.name.trim())),
  )
}
