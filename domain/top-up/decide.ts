import { assert } from '../shared/assert.ts'
import type { Decider } from '../shared/decider.ts'
import { fromWire, type Quota, toWire } from '../shared/quota.ts'
import { refuse } from '../shared/refusal.ts'
import type { PayTopUp, RefundTopUp, TopUpCommand } from './commands.ts'
import type { Rebate, TopUpEvent, TopUpOrdered } from './events.ts'
import { centsOf, moneyText, partOf } from './money.ts'
import type { TopUpRefusal } from './refusals.ts'

type Payment = { readonly paymentId: string; readonly rebate: Rebate | null }

export type TopUpState = {
  /** null: never ordered. */
  readonly order: TopUpOrdered['data'] | null
  /** null: not paid. */
  readonly payment: Payment | null
  readonly refunds: number
  readonly refundedCents: bigint
  readonly refundedQuota: Quota
  readonly refundedRebate: Quota
}

type Outcome = readonly TopUpEvent[] | TopUpRefusal

export const topUpDecider: Decider<TopUpState, TopUpCommand, TopUpEvent, TopUpRefusal> = {
  initialState: () => ({
    order: null,
    payment: null,
    refunds: 0,
    refundedCents: 0n,
    refundedQuota: 0n,
    refundedRebate: 0n,
  }),
  decide: (command, state) => {
    switch (command.type) {
      case 'PlaceTopUp': {
        const { type, ...data } = command
        if (state.order !== null) return refuse('TopUpExists')
        return [{ type: 'TopUpOrdered', v: 1, data }]
      }
      case 'PayTopUp':
        return pay(command, state)
      case 'RefundTopUp':
        return refund(command, state)
    }
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'TopUpOrdered':
        return { ...state, order: event.data }
      case 'TopUpPaid': {
        const { paymentId, rebate } = event.data
        return { ...state, payment: { paymentId, rebate } }
      }
      case 'TopUpRefunded': {
        const { money, quota, rebateQuota } = event.data
        return {
          ...state,
          refunds: state.refunds + 1,
          refundedCents: state.refundedCents + knownCents(money),
          refundedQuota: state.refundedQuota + fromWire(quota),
          refundedRebate: state.refundedRebate + fromWire(rebateQuota),
        }
      }
    }
  },
}

/**
 * NOTE: what was paid before is refused and not passed over: the credit goes with this event in one
 * append, and must not be tried a second time by itself.
 */
function pay(command: PayTopUp, { order, payment }: TopUpState): Outcome {
  if (order === null || order.tradeNo !== command.tradeNo) return refuse('TopUpUnknown')
  const field = mismatch(command, order)
  if (field !== null) return refuse('TopUpMismatch', { field })
  if (payment !== null) return refuse('TopUpPaidAlready', { paymentId: payment.paymentId })
  const { orderId, userId } = order
  const { paymentId, rebate } = command
  return [{ type: 'TopUpPaid', v: 1, data: { orderId, userId, paymentId, rebate } }]
}

function mismatch(said: PayTopUp, order: TopUpOrdered['data']): string | null {
  if (said.provider !== order.provider) return 'provider'
  if (said.merchant !== order.merchant) return 'merchant'
  if (said.currency !== order.currency) return 'currency'
  return said.cents === knownCents(order.money) ? null : 'money'
}

function refund({ cents, refundsBefore, reason }: RefundTopUp, state: TopUpState): Outcome {
  const { order, payment } = state
  if (order === null) return refuse('TopUpUnknown')
  if (payment === null) return refuse('TopUpNotPaid')
  if (refundsBefore !== state.refunds) return refuse('RefundedMeanwhile')
  const left = knownCents(order.money) - state.refundedCents
  if (cents <= 0n || cents > left) return refuse('RefundOutOfRange', { left: moneyText(left) })
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

/**
 * What goes back with so much money: as much as all refunds together are of the whole, less what
 * went back before. So the parts of a whole refund are the whole, to the unit.
 */
export function refundShares(state: TopUpState, cents: bigint): Record<Share, Quota> {
  const { order, payment, refundedCents } = state
  assert(order !== null, 'a refund of an order that is there')
  const all = knownCents(order.money)
  const upTo = (quota: Quota): Quota => partOf(quota, refundedCents + cents, all)
  return {
    quota: upTo(fromWire(order.quota)) - state.refundedQuota,
    rebateQuota: upTo(fromWire(payment?.rebate?.quota ?? 0)) - state.refundedRebate,
  }
}

type Share = 'quota' | 'rebateQuota'

/** Of money that an event says. */
function knownCents(money: string): bigint {
  const cents = centsOf(money)
  assert(cents !== null, 'an order says its money')
  return cents
}
