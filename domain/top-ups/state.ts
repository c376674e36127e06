import { assert } from '../shared/assert.ts'
import { fromWire, type Quota } from '../shared/quota.ts'
import type { Rebate, TopUpDisputeReported, TopUpOrdered } from './events.ts'
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
  /** The money in the provider's reports that admins have also recorded. It counts only once. */
  readonly coveredCents: bigint
  /** The number of the order's events. A command that expects another number is refused. */
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
 * Returns the quota to deduct for a refund of `cents`, or to restore if `cents` is negative. It is
 * the quota for all refunds minus the quota already deducted. Partial refunds therefore add up to
 * the exact total.
 */
export function refundShares(state: TopUpState, cents: bigint): Record<Share, Quota> {
  const { order, payment, refundedCents } = state
  assert(order !== null, 'a refund of an order that is there')
  const all = storedCents(order.money)
  const upTo = (quota: Quota): Quota => partOf(quota, refundedCents + cents, all)
  return {
    quota: upTo(fromWire(order.quota)) - state.refundedQuota,
    rebateQuota: upTo(fromWire(payment?.rebate?.quota ?? 0)) - state.refundedRebate,
  }
}

/** Parses an amount of money in an event, which is always valid. */
export function storedCents(money: string): bigint {
  const cents = centsOf(money)
  assert(cents !== null, 'an order says its money')
  return cents
}
