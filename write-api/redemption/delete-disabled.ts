import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { disabledRedemptionKeys } from '#projections/redemptions/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { removeRedemptions } from './remove-redemptions.ts'

/** DELETE /api/redemption/delete-disabled: those that still are so; answers how many. */
export const deleteDisabledRedemptions: Act = (api, deps) => {
  api.delete(
    '/api/redemption/delete-disabled',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Delete every disabled redemption code; answers how many',
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const keys = await disabledRedemptionKeys(deps.core.db)
      const terms = { isOneOfMany: true, onlyDisabled: true }
      const { ids, position } = await removeRedemptions(deps, keys, terms, contextOf(deps, request))
      await visibleIn(deps, reply, ['redemptions'], position)
      return success(ids.size)
    },
  )
}
