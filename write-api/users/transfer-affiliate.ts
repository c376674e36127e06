import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { optionValue } from '#domain/options/registry.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { TransferAffiliate } from '#write-api/contract/users.ts'
import { type Action, accepted, contextOf, waitUntilVisible } from '../action.ts'

/** POST /api/user/aff_transfer: what invitations brought becomes quota to spend. */
export const transferAffiliate: Action = (api, deps) => {
  api.post(
    '/api/user/aff_transfer',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'Transfer quota earned by invitations to the balance',
        body: TransferAffiliate,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const { values } = await allOptions(deps.core.db)
      const command = {
        type: 'TransferAffiliate',
        userId,
        transferId: request.id,
        amount: BigInt(request.body.quota),
        // One dollar: the rate may have decimals, quota has none.
        least: BigInt(Math.ceil(Number(optionValue(values, 'QuotaPerUnit')))),
      } as const
      const context = contextOf(deps, request)
      const stream = accountStream(userId)
      const outcome = await deps.core.actors.handle(accountDecider, stream, command, context)
      await waitUntilVisible(deps, reply, ['balances', 'call-log'], accepted(outcome).position)
      return done()
    },
  )
}
