import { assert } from '../shared/assert.ts'
import { fromWire, type Quota } from '../shared/quota.ts'
import type {
  Rebate,
  TopUpDisputeReported,
  TopUpEvent,
  TopUpOrdered,
  TopUpRefunded,
  TopUpRefundReported,
} from './events.ts'
import { centsOf, partOf } from './money.ts'

type Payment = { readonly paymentId: string; readonly rebate: Rebate | null }

/**
 * A refund that the provider reported. `isLive` is true if the money has left the operator's
 * account or will soon leave it.
 */
export type ReportedRefund = {
  readonly cents: bigint
  readonly status: string
  readonly isLive: boolean
}

export type ReportedDispute = Pick<
  TopUpDisputeReported['data'],
  'reason' | 'status' | 'dueBy' | 'isWithdrawn' | 'isReinstated' | 'statedAt'
> & { readonly cents: bigint }

/**
 * The provider's reports on refunds and disputes. Refunds that admins recorded are not included.
 */
export type ProviderReports = {
  /** The refunds by their id at the provider. */
  readonly refunds: ReadonlyMap<string, ReportedRefund>
  /** The disputes by their id at the provider. */
  readonly disputes: ReadonlyMap<string, ReportedDispute>
  /** The highest reported sum of all refunds of the payment, in hundredths. */
  readonly chargeCents: bigint
}

export type TopUpState = {
  readonly order: TopUpOrdered['data'] | null
  readonly payment: Payment | null
  readonly refunds: number
  readonly restorations: number
  /** The money that admins and the provider have refunded and not restored, in hundredths. */
  readonly refundedCents: bigint
  readonly refundedQuota: Quota
  readonly refundedRebate: Quota
  /** The part of `refundedCents` that admins recorded. */
  readonly recordedCents: bigint
  readonly reports: ProviderReports
  /**
   * The part of `recordedCents` that the provider has also reported. This money must not count
   * twice.
   */
  readonly coveredCents: bigint
  /**
   * The number of the order's events. A command whose `changesBefore` differs from this number is
   * refused.
   */
  readonly changes: number
}

export const initialTopUp = (): TopUpState => ({
  order: null,
  payment: null,
  refunds: 0,
  restorations: 0,
  refundedCents: 0n,
  refundedQuota: 0n,
  refundedRebate: 0n,
  recordedCents: 0n,
  reports: { refunds: new Map(), disputes: new Map(), chargeCents: 0n },
  coveredCents: 0n,
  changes: 0,
})

export const evolveTopUp = (state: TopUpState, event: TopUpEvent): TopUpState => ({
  ...applied(state, event),
  changes: state.changes + 1,
})

function applied(state: TopUpState, event: TopUpEvent): TopUpState {
  switch (event.type) {
    case 'TopUpOrdered':
      return { ...state, order: event.data }
    case 'TopUpPaid': {
      const { paymentId, rebate } = event.data
      return { ...state, payment: { paymentId, rebate } }
    }
    case 'TopUpRefunded': {
      const { money, source } = event.data
      const recorded = source === undefined ? storedCents(money) : 0n
      return {
        ...withRefundedAmounts(state, event.data, 1n),
        refunds: state.refunds + 1,
        recordedCents: state.recordedCents + recorded,
      }
    }
    case 'TopUpRestored':
      return {
        ...withRefundedAmounts(state, event.data, -1n),
        restorations: state.restorations + 1,
      }
    case 'TopUpRefundReported':
    case 'TopUpDisputeReported':
      return {
        ...state,
        reports: withReport(state.reports, event),
        coveredCents: storedCents(event.data.coveredMoney),
      }
  }
}

type RefundedAmounts = Pick<TopUpRefunded['data'], 'money' | 'quota' | 'rebateQuota'>

const withRefundedAmounts = (
  state: TopUpState,
  { money, quota, rebateQuota }: RefundedAmounts,
  sign: 1n | -1n,
) => ({
  ...state,
  refundedCents: state.refundedCents + sign * storedCents(money),
  refundedQuota: state.refundedQuota + sign * fromWire(quota),
  refundedRebate: state.refundedRebate + sign * fromWire(rebateQuota),
})

export type TopUpReported = TopUpRefundReported | TopUpDisputeReported

/** The statuses of refunds whose money has left the operator's account or will soon leave it. */
const REFUNDS_WITH_MONEY = ['pending', 'succeeded']

/**
 * Returns the reports with one more report. The new report replaces the earlier report on the same
 * refund, charge or dispute.
 */
export function withReport(
  reports: ProviderReports,
  { type, data }: TopUpReported,
): ProviderReports {
  const cents = storedCents(data.money)
  if (type === 'TopUpDisputeReported') {
    const { reason, status, dueBy, isWithdrawn, isReinstated, statedAt } = data
    const dispute = { cents, reason, status, dueBy, isWithdrawn, isReinstated, statedAt }
    return { ...reports, disputes: new Map(reports.disputes).set(data.disputeId, dispute) }
  }
  if (data.isTotal === true) return { ...reports, chargeCents: cents }
  const { refundId, status } = data
  const refund = { cents, status, isLive: REFUNDS_WITH_MONEY.includes(status) }
  return { ...reports, refunds: new Map(reports.refunds).set(refundId, refund) }
}

type Share = 'quota' | 'rebateQuota'

/**
 * Returns the quota to deduct for a refund of `cents`, or to restore if `cents` is negative. The
 * result is the quota for all refunds so far, including this one, minus the quota that was already
 * deducted. Partial refunds therefore add up to the exact total.
 */
export function refundShares(state: TopUpState, cents: bigint): Record<Share, Quota> {
  const { order, payment, refundedCents } = state
  assert(order !== null, 'a refund of an order that does not exist')
  const all = storedCents(order.money)
  const upTo = (quota: Quota): Quota => partOf(quota, refundedCents + cents, all)
  return {
    quota: upTo(fromWire(order.quota)) - state.refundedQuota,
    rebateQuota: upTo(fromWire(payment?.rebate?.quota ?? 0)) - state.refundedRebate,
  }
}

/** Parses an amount of money in an event. Throws if the amount is invalid. */
export function storedCents(money: string): bigint {
  const cents = centsOf(money)
  assert(cents !== null, 'an event has an invalid amount of money')
  return cents
}
