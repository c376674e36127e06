import { randomBytes } from 'node:crypto'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { optionFlag, optionInteger, optionValue } from '#domain/options/registry.ts'
import { dayOf } from '#domain/shared/day.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { endpoint } from '#infra/http/endpoint.ts'
import { done, success } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, accepted, contextOf, waitUntilVisible } from '../action.ts'
import { userActions } from '../contract/users.ts'
import { accountError } from './account-errors.ts'

/** POST /api/user/check_in: credits the reward of the day (UTC, by the database's clock), once. */
export const checkIn: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'POST /api/user/check_in'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const { core } = deps
      const { userId } = principalOf(request)
      const { values } = await allOptions(core.db)
      if (!optionFlag(values, 'CheckInEnabled')) throw accountError('CheckInDisabled')
      const least = BigInt(optionInteger(values, 'CheckInQuota'))
      const most = BigInt(optionInteger(values, 'CheckInMaxQuota'))
      const amount = randomAmount(least, most)
      const context = contextOf(deps, request)
      const command = { type: 'CheckIn', userId, day: dayOf(context.at), amount } as const
      const stream = accountStream(userId)
      const { position } = accepted(
        await core.actors.handle(accountDecider, stream, command, context),
      )
      await waitUntilVisible(deps, reply, ['balances', 'call-log'], position)
      return success({ quota: Number(amount) })
    },
  })
}

/** Returns a uniformly random amount between the bounds; `least` if `most` is below it. */
function randomAmount(least: bigint, most: bigint): bigint {
  if (most <= least) return least
  // 72 random bits for a range of at most 54 bits: the bias of an amount is below a millionth.
  return least + (BigInt(`0x${randomBytes(9).toString('hex')}`) % (most - least + 1n))
}

/** POST /api/user/aff_transfer: moves invitation rewards to the spendable balance. */
export const transferAffiliate: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'POST /api/user/aff_transfer'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      const { values } = await allOptions(deps.core.db)
      const command = {
        type: 'TransferAffiliate',
        userId,
        transferId: request.id,
        amount: BigInt(request.body.quota),
        // One dollar's worth, rounded up: the rate may have decimals, quota does not.
        least: BigInt(Math.ceil(Number(optionValue(values, 'QuotaPerUnit')))),
      } as const
      const context = contextOf(deps, request)
      const stream = accountStream(userId)
      const outcome = await deps.core.actors.handle(accountDecider, stream, command, context)
      await waitUntilVisible(deps, reply, ['balances', 'call-log'], accepted(outcome).position)
      return done()
    },
  })
}
