import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { redemptionKeys } from '#projections/redemptions/query.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'
import { refused } from '../refusals.ts'
import { removeRedemptions } from './remove-redemptions.ts'

/** DELETE /api/redemption/{id}/. */
export const deleteRedemption: Act = (api, deps) => {
  api.delete(
    '/api/redemption/:id/',
    {
      onRequest: onlyAdmin,
      schema: { summary: 'Delete a redemption code', params: IdParams, response: { 200: Done } },
    },
    async (request, reply) => {
      const keys = await redemptionKeys(deps.core.db, [idOf(request.params)])
      if (keys.length === 0) throw refused('RedemptionUnknown')
      const { position } = await removeRedemptions(deps, keys, {}, contextOf(deps, request))
      await visibleIn(deps, reply, ['redemptions'], position)
      return done()
    },
  )
}
