import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { refundShares, type TopUpState } from '#domain/top-up/state.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'

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
