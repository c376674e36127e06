import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { topUpId } from '#domain/account/top-up-ids.ts'
import { optionFlag, optionValue } from '#domain/options/registry.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { fromWire, toWire } from '#domain/shared/quota.ts'
import type { PayTopUp } from '#domain/top-up/commands.ts'
import { topUpDecider } from '#domain/top-up/decide.ts'
import { type Rebate, type TopUpOrdered, topUpStream } from '#domain/top-up/events.ts'
import { shareOf } from '#domain/top-up/money.ts'
import { refundShares, type TopUpState } from '#domain/top-up/state.ts'
import type { Core } from '#infra/core.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { findUser } from '#projections/users/query.ts'
import { orderIdOf } from './pay.ts'

/** What a provider said, its signature checked. */
type SignedPayment = Omit<PayTopUp, 'type' | 'rebate'>

/** `refused`: nothing happened, and the log says why. */
type Taken = 'credited' | 'credited-before' | 'refused'

/**
 * Decides on the order's own stream whether it is paid, and credits the account in the same
 * append: exactly once, however often and wherever the provider says so. Resolves once it is a
 * fact; rejects when that is not known.
 */
export async function takePayment(
  core: Core,
  values: ReadonlyMap<string, string>,
  payment: SignedPayment,
  cause: string,
): Promise<Taken> {
  const { provider, tradeNo, paymentId } = payment
  const orderId = orderIdOf(tradeNo)
  const alarm = (reason: string, details: object = {}): Taken => {
    const facts = { alarm: 'payment-refused', provider, orderId, paymentId, reason, ...details }
    core.log.error(facts, 'a payment was not credited: look into it')
    return 'refused'
  }
  if (orderId === null) return alarm('TopUpUnknown')
  const { order } = await core.actors.stateOf(topUpDecider, topUpStream(orderId))
  if (order === null) return alarm('TopUpUnknown')
  const steps = await paymentSteps(core, values, payment, order)
  const context = { actor: `system:${provider}`, cause, at: core.now() }
  const outcome = await core.actors.handleTogether(steps, context)
  if (outcome.isDone) return 'credited'
  const { code, params } = outcome.error
  if (code !== 'TopUpPaidAlready') return alarm(code, params)
  if (params.paymentId !== paymentId) return alarm('paid twice', { paidBy: params.paymentId })
  await mustBeCredited(core, order)
  return 'credited-before'
}

/** Where the credit follows the decision, it may be missing yet: nobody is told `success` then. */
async function mustBeCredited({ actors }: Core, { userId, orderId }: TopUpOrdered['data']) {
  const { grantIds } = await actors.stateOf(accountDecider, accountStream(userId))
  if (grantIds.has(topUpId({ orderId }))) return
  throw new StoreUnavailable(`the credit of order ${orderId} is not written yet`)
}

/** NOTE: the decision comes first; where it is refused, so is all that goes with it. */
async function paymentSteps(
  core: Core,
  values: ReadonlyMap<string, string>,
  payment: SignedPayment,
  order: TopUpOrdered['data'],
): Promise<AnyStep[]> {
  const { orderId, userId, provider } = order
  const rebate = await rebateOf(core, values, order)
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

/** By the options of the moment of payment; null while there are none, or nobody to get it. */
async function rebateOf(
  core: Core,
  values: ReadonlyMap<string, string>,
  order: TopUpOrdered['data'],
): Promise<Rebate | null> {
  if (!optionFlag(values, 'RebateEnabled')) return null
  const percentage = optionValue(values, 'RebatePercentage')
  const quota = shareOf(fromWire(order.quota), percentage)
  const inviterId = (await findUser(core.db, order.userId))?.inviterId ?? null
  if (quota === 0n || inviterId === null) return null
  const inviter = await findUser(core.db, inviterId)
  const isThere = inviter !== null && !inviter.isDeleted && inviter.status === 1
  return isThere ? { inviterId, percentage, quota: toWire(quota) } : null
}

/**
 * What goes with a refund of so many hundredths, or with a restoration for a negative number of
 * them: the steps on the user's account and the inviter's. The order's own step has to come first,
 * and has to be refused unless it is decided on the same state.
 */
export function accountSteps(state: TopUpState, cents: bigint, note: Sealed): AnyStep[] {
  const { order, payment } = state
  if (order === null || payment === null || cents === 0n) return []
  const { orderId, userId, provider } = order
  const { quota, rebateQuota } = refundShares(state, cents)
  const step = (ownerId: number, command: object): AnyStep => ({
    decider: accountDecider,
    stream: accountStream(ownerId),
    command: { userId: ownerId, orderId, ...command },
  })
  const steps: AnyStep[] = []
  const inviterId = payment.rebate?.inviterId ?? null
  if (cents > 0n) {
    const refundNo = state.refunds + 1
    const taken = { type: 'ReverseTopUp', refundNo, provider, amount: quota, note }
    if (quota > 0n) steps.push(step(userId, taken))
    const lost = { type: 'ReverseRebate', refundNo, amount: rebateQuota }
    if (rebateQuota > 0n && inviterId !== null) steps.push(step(inviterId, lost))
    return steps
  }
  const restoreNo = state.restorations + 1
  const restored = { type: 'CreditTopUp', restoreNo, provider, amount: -quota }
  if (quota < 0n) steps.push(step(userId, restored))
  const earned = { type: 'EarnRebate', restoreNo, inviteeId: userId, amount: -rebateQuota }
  if (rebateQuota < 0n && inviterId !== null) steps.push(step(inviterId, earned))
  return steps
}
