import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { optionFlag, optionInteger } from '#domain/options/registry.ts'
import { dayOf } from '#domain/shared/day.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, accepted, contextOf, waitUntilVisible } from '../action.ts'
import { accountError } from './account-errors.ts'

/** POST /api/user/check_in: the reward of the day (UTC, by the database's clock), once. */
export const checkIn: Action = (api, deps) => {
  api.post(
    '/api/user/check_in',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'Check in for today',
        response: { 200: Envelope(Type.Object({ quota: Type.Integer() })) },
      },
    },
    async (request, reply) => {
      const { core } = deps
      const { userId } = principalOf(request)
      const { values } = await allOptions(core.db)
      if (!optionFlag(values, 'CheckInEnabled')) throw accountError('CheckInDisabled')
      const least = BigInt(optionInteger(values, 'CheckInQuota'))
      const most = BigInt(optionInteger(values, 'CheckInMaxQuota'))
      const amount = drawn(least, most)
      const context = contextOf(deps, request)
      const command = { type: 'CheckIn', userId, day: dayOf(context.at), amount } as const
      const stream = accountStream(userId)
      const done = accepted(await core.actors.handle(accountDecider, stream, command, context))
      await waitUntilVisible(deps, reply, ['balances', 'call-log'], done.position)
      return success({ quota: Number(amount) })
    },
  )
}

/** Any amount from the least to the most, all alike; the least where the most is below it. */
function drawn(least: bigint, most: bigint): bigint {
  if (most <= least) return least
  // 72 bits over at most 54: no amount is likelier than another by more than a millionth.
  return least + (BigInt(`0x${randomBytes(9).toString('hex')}`) % (most - least + 1n))
}
