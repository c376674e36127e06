import { topUpId } from '#domain/accounts/build-deduplication-ids.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { optionFlag, optionValue } from '#domain/options/option-registry.ts'
import { fromWire, toWire } from '#domain/shared/quota.ts'
import type { PayTopUp } from '#domain/top-ups/commands.ts'
import { topUpDecider } from '#domain/top-ups/decide.ts'
import { type Rebate, type TopUpOrdered, topUpStream } from '#domain/top-ups/events.ts'
import { shareOf } from '#domain/top-ups/money.ts'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import { isActiveUser } from '#domain/users/state.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { findUser } from '#projections/users/query.ts'
import { orderIdOf } from './quote-and-place-order.ts'

/** A payment that a provider has reported. The signature of the report is already verified. */
type VerifiedPayment = Omit<PayTopUp, 'type' | 'rebate'>

/**
 * The result of a reported payment. `credited-before`: the payment was already credited.
 * `rejected`: nothing was changed, and the log contains the reason.
 */
type PaymentResult = 'credited' | 'credited-before' | 'rejected'

/**
 * Marks an order as paid and credits the account in one append. A payment is credited only once,
 * even if it is reported several times. If it is unknown whether the append was written, the
 * promise is rejected.
 */
export async function applyPayment(
  core: Core,
  options: ReadonlyMap<string, string>,
  payment: VerifiedPayment,
  cause: string,
): Promise<PaymentResult> {
  const { provider, tradeNo, paymentId } = payment
  const orderId = orderIdOf(tradeNo)
  const rejectWithAlarm = (reason: string, details: object = {}): PaymentResult => {
    const fields = { alarm: 'payment-refused', provider, orderId, paymentId, reason, ...details }
    core.log.error(fields, 'a payment was not credited and needs attention')
    return 'rejected'
  }
  if (orderId === null) return rejectWithAlarm('TopUpUnknown')
  const { order } = await core.actors.stateOf(topUpDecider, topUpStream(orderId))
  if (order === null) return rejectWithAlarm('TopUpUnknown')
  const steps = await paymentSteps(core, options, payment, order)
  const context = { actor: `system:${provider}`, cause, at: core.now() }
  const outcome = await core.actors.handleTogether(steps, context)
  if (outcome.isDone) return 'credited'
  const { code, params } = outcome.error
  if (code !== 'TopUpPaidAlready') return rejectWithAlarm(code, params)
  if (params.paymentId !== paymentId)
    return rejectWithAlarm('paid twice', { paidBy: params.paymentId })
  await assertCredited(core, order)
  return 'credited-before'
}

/**
 * Throws if a paid order is not credited yet, so that the provider sends the report of the payment
 * again. Only a store without atomic appends to several streams can contain such an order.
 */
async function assertCredited({ actors }: Core, { userId, orderId }: TopUpOrdered['data']) {
  const { grantIds } = await actors.stateOf(accountDecider, accountStream(userId))
  if (grantIds.has(topUpId({ orderId }))) return
  throw new StoreUnavailable(`the credit of order ${orderId} is not written yet`)
}

/**
 * Returns the steps (commands to single streams) that apply a payment. NOTE: the step for the order
 * comes first. If this step is rejected, the whole append is rejected.
 */
async function paymentSteps(
  core: Core,
  options: ReadonlyMap<string, string>,
  payment: VerifiedPayment,
  order: TopUpOrdered['data'],
): Promise<AnyStep[]> {
  const { orderId, userId, provider } = order
  const rebate = await rebateOf(core, options, order)
  const account = (ownerId: number, command: object): AnyStep => ({
    decider: accountDecider,
    stream: accountStream(ownerId),
    command: { userId: ownerId, orderId, ...command },
  })
  const amount = fromWire(order.quota)
  const steps = [
    {
      decider: topUpDecider,
      stream: topUpStream(orderId),
      command: { type: 'PayTopUp', ...payment, rebate },
    },
    account(userId, { type: 'CreditTopUp', provider, amount }),
  ]
  if (rebate !== null) {
    const share = { inviteeId: userId, amount: fromWire(rebate.quota) }
    steps.push(account(rebate.inviterId, { type: 'EarnRebate', ...share }))
  }
  return steps
}

/**
 * Returns the inviter's rebate (a percentage of the order's quota). Returns null if rebates are
 * disabled, if the rebate is 0, or if there is no active inviter.
 */
async function rebateOf(
  core: Core,
  options: ReadonlyMap<string, string>,
  order: TopUpOrdered['data'],
): Promise<Rebate | null> {
  if (!optionFlag(options, 'RebateEnabled')) return null
  const percentage = optionValue(options, 'RebatePercentage')
  const quota = shareOf(fromWire(order.quota), percentage)
  const inviterId = (await findUser(core.db, order.userId))?.inviterId ?? null
  if (quota === 0n || inviterId === null) return null
  const inviter = await core.actors.peek(userDecider, userStream(inviterId))
  return isActiveUser(inviter) ? { inviterId, percentage, quota: toWire(quota) } : null
}
