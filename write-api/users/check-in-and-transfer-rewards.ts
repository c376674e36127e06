import { randomBytes } from 'node:crypto'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { optionFlag, optionInteger, optionValue } from '#domain/options/option-registry.ts'
import { dayOf } from '#domain/shared/utc-time.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import { type Action, accepted, contextOf, waitUntilVisible } from '../action.ts'
import { userActions } from '../contract/users.ts'
import { accountError } from './account-errors.ts'

/**
 * POST /api/user/check_in: credits the daily reward, once per user and UTC day. The clock of the
 * database determines the day.
 */
export const checkIn: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'POST /api/user/check_in'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const { core } = deps
      const { userId } = principalOf(request)
      const { values } = await allOptions(core.db)
      if (!optionFlag(values, 'CheckInEnabled')) throw accountError('CheckInDisabled')
      const lowest = BigInt(optionInteger(values, 'CheckInQuota'))
      const highest = BigInt(optionInteger(values, 'CheckInMaxQuota'))
      const amount = randomAmount(lowest, highest)
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

/**
 * Returns a random amount from `lowest` to `highest`, both included. If `highest` is below
 * `lowest`, `lowest` is returned.
 */
function randomAmount(lowest: bigint, highest: bigint): bigint {
  if (highest <= lowest) return lowest
  // The amounts have at most 54 bits. With 72 random bits, the probabilities of the amounts differ
  // by less than a millionth.
  return lowest + (BigInt(`0x${randomBytes(9).toString('hex')}`) % (highest - lowest + 1n))
}

/** POST /api/user/aff_transfer: transfers rewards for invitations to the caller's balance. */
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
        // The smallest amount that can be transferred: the quota that one dollar buys. This amount
        // is rounded up, because the option may contain decimals.
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
