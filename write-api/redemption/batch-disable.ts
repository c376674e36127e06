import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { redemptionKeys } from '#projections/redemptions/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { RedemptionIds } from '#write-api/contract/redemption.ts'
import { type Act, contextOf, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { decideRedemptions } from './decide-redemptions.ts'

/** PUT /api/redemption/batch-disable: the unused ones among them; answers how many. */
export const batchDisable: Act = (api, deps) => {
  api.put(
    '/api/redemption/batch-disable',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Disable the unused ones of these codes; answers how many',
        body: RedemptionIds,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const { ids } = request.body
      if (ids.length === 0) throw refused('NoRedemptionChosen')
      const keys = await redemptionKeys(deps.core.db, ids)
      const commandFor = (redemptionId: number) =>
        ({ type: 'DisableRedemption', redemptionId, isOneOfMany: true }) as const
      const changed = await decideRedemptions(deps, keys, commandFor, contextOf(deps, request))
      await visibleIn(deps, reply, ['redemptions'], changed.position)
      return success(changed.ids.size)
    },
  )
}
