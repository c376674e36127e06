import type { Sealed } from '#domain/shared/event.ts'
import { topUpDecider } from '#domain/top-ups/decide.ts'
import { topUpStream } from '#domain/top-ups/events.ts'
import { centsOf } from '#domain/top-ups/money.ts'
import type { TopUpState } from '#domain/top-ups/state.ts'
import { mayChange, userDecider } from '#domain/users/decide.ts'
import { type Role, userStream } from '#domain/users/events.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import type { RefundOrder } from '#write-api/contract/top-ups.ts'
import { type Action, accepted, contextOf, type Deps, idOf, waitUntilVisible } from '../action.ts'
import { orderActions } from '../contract/top-ups.ts'
import { userError } from '../users/user-errors.ts'
import { refundAccountSteps } from './refund-account-steps.ts'
import { topUpError } from './top-up-errors.ts'

/**
 * POST /api/user/topup/{id}/refund: records that an admin has refunded money at the provider.
 * Deducts the quota that was bought with this money, and the matching part of the inviter's rebate.
 */
export const refundOrder: Action = (api, deps) => {
  api.route({
    ...endpoint(orderActions, 'POST /api/user/topup/:id/refund'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { actors, vault } = deps.core
      const reason = request.body.reason.trim()
      if (reason === '') throw topUpError('RefundReasonRequired')
      const stream = topUpStream(idOf(request.params))
      const state = await actors.stateOf(topUpDecider, stream)
      if (state.order === null) throw topUpError('TopUpUnknown')
      await assertMayActOn(deps, principalOf(request), state.order.userId)
      const isCurrent = request.body.refunds === state.refunds
      if (!isCurrent && state.payment !== null) throw topUpError('RefundedMeanwhile')
      const sealed = await vault.seal(state.order.userId, reason)
      const steps = refundSteps(state, stream, centsToRefund(state, request.body), sealed)
      const outcome = await actors.handleTogether(steps, contextOf(deps, request))
      const { position } = accepted(outcome)
      await waitUntilVisible(deps, reply, ['orders', 'balances', 'call-log'], position)
      return done()
    },
  })
}

/**
 * Throws if the caller may not change the user who paid. The rule is the same as for adjustments of
 * a balance, but the orders of deleted users can be refunded as well.
 */
async function assertMayActOn(
  { core }: Deps,
  { role }: ReturnType<typeof principalOf>,
  userId: number,
): Promise<void> {
  const { user } = await core.actors.peek(userDecider, userStream(userId))
  if (user === null || !mayChange(user, role as Role)) throw userError('RoleTooHigh')
}

/**
 * Returns the money to refund in hundredths of the currency. The default is all money that is not
 * refunded yet. An invalid amount in the request becomes 0.
 */
function centsToRefund({ order, refundedCents }: TopUpState, { money }: RefundOrder): bigint {
  if (money !== undefined) return centsOf(money.trim()) ?? 0n
  return (centsOf(order?.money ?? '') ?? 0n) - refundedCents
}

/**
 * Returns the steps (commands to single streams) of a refund. NOTE: the step for the order comes
 * first. This step is rejected if the order has changed since the steps for the accounts were
 * computed.
 */
function refundSteps(state: TopUpState, stream: string, cents: bigint, reason: Sealed): AnyStep[] {
  const { refunds: refundsBefore, changes: changesBefore } = state
  const refund = { type: 'RefundTopUp', cents, refundsBefore, changesBefore, reason }
  const decision: AnyStep = { decider: topUpDecider, stream, command: refund }
  return [decision, ...(cents > 0n ? refundAccountSteps(state, cents, reason) : [])]
}
