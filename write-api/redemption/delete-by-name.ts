import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { redemptionKeysByName } from '#projections/redemptions/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { removeRedemptions } from './remove-redemptions.ts'

const ByName = Type.Object({ name: Type.String({ maxLength: 200 }) })

/** DELETE /api/redemption/delete-by-name: all of exactly this name; answers how many. */
export const deleteByName: Act = (api, deps) => {
  api.delete(
    '/api/redemption/delete-by-name',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Delete every redemption code of this name; answers how many',
        querystring: ByName,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const name = request.query.name.trim()
      if (name === '') throw refused('RedemptionNameRequired')
      const keys = await redemptionKeysByName(deps.core.db, name)
      const terms = { isOneOfMany: true }
      const { ids, position } = await removeRedemptions(deps, keys, terms, contextOf(deps, request))
      await visibleIn(deps, reply, ['redemptions'], position)
      return success(ids.size)
    },
  )
}
