import { codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import { toWire } from '../shared/quota.ts'
import type { PayTopUp, RefundTopUp, TopUpCommand, TopUpError } from './commands.ts'
import { decideReport } from './decide-provider-report.ts'
import type { TopUpEvent, TopUpOrdered } from './events.ts'
import { moneyText } from './money.ts'
import { evolveTopUp, initialTopUp, refundShares, storedCents, type TopUpState } from './state.ts'

type Outcome = readonly TopUpEvent[] | TopUpError

export const topUpDecider: Decider<TopUpState, TopUpCommand, TopUpEvent, TopUpError> = {
  initialState: initialTopUp,
  decide: (command, state) => {
    switch (command.type) {
      case 'PlaceTopUp': {
        const { type, ...data } = command
        if (state.order !== null) return codedError('TopUpExists')
        return [{ type: 'TopUpOrdered', v: 1, data }]
      }
      case 'PayTopUp':
        return pay(command, state)
      case 'RefundTopUp':
        return refund(command, state)
      case 'ReportRefund':
      case 'ReportDispute':
        return decideReport(command, state)
    }
  },
  evolve: evolveTopUp,
}

/**
 * Records the payment of an order. NOTE: if the order is already paid, the command is refused and
 * not ignored. The refusal also prevents a second credit in the same append.
 */
function pay(command: PayTopUp, { order, payment }: TopUpState): Outcome {
  if (order === null || order.tradeNo !== command.tradeNo) return codedError('TopUpUnknown')
  const field = mismatch(command, order)
  if (field !== null) return codedError('TopUpMismatch', { field })
  if (payment !== null) return codedError('TopUpPaidAlready', { paymentId: payment.paymentId })
  const { orderId, userId } = order
  const { paymentId, rebate } = command
  return [{ type: 'TopUpPaid', v: 1, data: { orderId, userId, paymentId, rebate } }]
}

function mismatch(payment: PayTopUp, order: TopUpOrdered['data']): string | null {
  if (payment.provider !== order.provider) return 'provider'
  if (payment.merchant !== order.merchant) return 'merchant'
  if (payment.currency !== order.currency) return 'currency'
  return payment.cents === storedCents(order.money) ? null : 'money'
}

function refund(command: RefundTopUp, state: TopUpState): Outcome {
  const { cents, refundsBefore, changesBefore = state.changes, reason } = command
  const { order, payment } = state
  if (order === null) return codedError('TopUpUnknown')
  if (payment === null) return codedError('TopUpNotPaid')
  const isUpToDate = refundsBefore === state.refunds && changesBefore === state.changes
  if (!isUpToDate) return codedError('RefundedMeanwhile')
  const left = storedCents(order.money) - state.refundedCents
  if (cents <= 0n || cents > left) return codedError('RefundOutOfRange', { left: moneyText(left) })
  const { orderId, userId } = order
  const shares = refundShares(state, cents)
  const data = {
    orderId,
    userId,
    refundNo: state.refunds + 1,
    money: moneyText(cents),
    quota: toWire(shares.quota),
    rebateQuota: toWire(shares.rebateQuota),
    reason,
  }
  return [{ type: 'TopUpRefunded', v: 1, data }]
}
