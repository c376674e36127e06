import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { refundShares, type TopUpState } from '#domain/top-ups/state.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'

/**
 * Returns the steps that deduct refunded quota from the accounts of the user and the inviter.
 * `cents` is the refunded money in hundredths of the currency. If `cents` is negative, the steps
 * restore quota. Returns no steps if the order is not paid or `cents` is 0. NOTE: an earlier step
 * of the same append must fail if the order has changed since `state` was read.
 */
export function refundAccountSteps(state: TopUpState, cents: bigint, note: Sealed): AnyStep[] {
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
    const reversal = { type: 'ReverseTopUp', refundNo, provider, amount: quota, note }
    if (quota > 0n) steps.push(step(userId, reversal))
    const lostRebate = { type: 'ReverseRebate', refundNo, amount: rebateQuota }
    if (rebateQuota > 0n && inviterId !== null) steps.push(step(inviterId, lostRebate))
    return steps
  }
  const restoreNo = state.restorations + 1
  const restored = { type: 'CreditTopUp', restoreNo, provider, amount: -quota }
  if (quota < 0n) steps.push(step(userId, restored))
  const earnedRebate = { type: 'EarnRebate', restoreNo, inviteeId: userId, amount: -rebateQuota }
  if (rebateQuota < 0n && inviterId !== null) steps.push(step(inviterId, earnedRebate))
  return steps
}
