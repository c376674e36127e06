import { assert } from '../shared/assert.ts'
import { fromWire, type Quota } from '../shared/quota.ts'
import type { Rebate, TopUpDisputeReported, TopUpOrdered } from './events.ts'
import { centsOf, partOf } from './money.ts'

type Payment = { readonly paymentId: string; readonly rebate: Rebate | null }

/** A refund that the provider reported; it is live while its money is on its way or has left. */
export type ReportedRefund = {
  readonly cents: bigint
  readonly status: string
  readonly isLive: boolean
}

export type ReportedDispute = Pick<
  TopUpDisputeReported['data'],
  'reason' | 'status' | 'dueBy' | 'isWithdrawn' | 'isReinstated' | 'statedAt'
> & { readonly cents: bigint }

/** What the provider says became of the money, apart from what admins record. */
export type ProviderReports = {
  /** By the provider's id. */
  readonly refunds: ReadonlyMap<string, ReportedRefund>
  /** By the provider's id. */
  readonly disputes: ReadonlyMap<string, ReportedDispute>
  /** The most that the provider ever said of all refunds of the charge together. */
  readonly chargeCents: bigint
}

export type TopUpState = {
  /** null: never ordered. */
  readonly order: TopUpOrdered['data'] | null
  /** null: not paid. */
  readonly payment: Payment | null
  readonly refunds: number
  readonly restorations: number
  /** Money whose quota is taken back at this moment, whoever reported it. */
  readonly refundedCents: bigint
  readonly refundedQuota: Quota
  readonly refundedRebate: Quota
  /** The part of `refundedCents` that admins recorded. */
  readonly recordedCents: bigint
  readonly reports: ProviderReports
  /** The part of the provider's money that is the money of admins' records: taken back once. */
  readonly coveredCents: bigint
  /** Counts the order's events, so that a decision on an older state is refused. */
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

type Share = 'quota' | 'rebateQuota'

/**
 * The quota that goes back with so many hundredths, or returns for a negative number of them: the
 * share of all refunds together, less what went back before. So the parts of a whole refund sum to
 * the whole, to the unit, and what is restored is exactly what is no longer refunded.
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

/** Of money that an event says. */
export function knownCents(money: string): bigint {
  const cents = centsOf(money)
  assert(cents !== null, 'an order says its money')
  return cents
}
