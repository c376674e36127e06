import { assert } from '../shared/assert.ts'
import { fromWire, type Quota } from '../shared/quota.ts'
import type { Rebate, TopUpDisputeReported, TopUpOrdered } from './events.ts'
import { centsOf, partOf } from './money.ts'

type Payment = { readonly paymentId: string; readonly rebate: Rebate | null }

/**
 * A refund that the provider reported. It is live while its money is about to leave or has left.
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

/** What the provider reported about the money, as opposed to what admins recorded. */
export type ProviderReports = {
  /** By the provider's id. */
  readonly refunds: ReadonlyMap<string, ReportedRefund>
  /** By the provider's id. */
  readonly disputes: ReadonlyMap<string, ReportedDispute>
  /** The largest sum of all refunds of the charge that the provider reported. */
  readonly chargeCents: bigint
}

export type TopUpState = {
  /** null if it was never ordered. */
  readonly order: TopUpOrdered['data'] | null
  /** null while it is not paid. */
  readonly payment: Payment | null
  readonly refunds: number
  readonly restorations: number
  /** The money whose quota is currently taken back, no matter who reported it. */
  readonly refundedCents: bigint
  readonly refundedQuota: Quota
  readonly refundedRebate: Quota
  /** The part of `refundedCents` that admins recorded. */
  readonly recordedCents: bigint
  readonly reports: ProviderReports
  /**
   * The part of the money reported by the provider that admins also recorded. It is taken back
   * once.
   */
  readonly coveredCents: bigint
  /** The number of the order's events, by which a decision on an outdated state is refused. */
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
 * The quota that is taken back with so many hundredths, or restored for a negative number. It is
 * the share of all refunds together minus what was taken back before. Thus the parts of a full
 * refund add up to the exact whole, and a restoration returns exactly what is no longer refunded.
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

/** The hundredths of an amount in an event, which is always valid. */
export function storedCents(money: string): bigint {
  const cents = centsOf(money)
  assert(cents !== null, 'an order says its money')
  return cents
}
