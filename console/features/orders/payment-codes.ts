import type { TFunction } from 'i18next'

/** Stripe's reasons of refunds and disputes that have words of their own. */
const REASONS = [
  'bank_cannot_process',
  'credit_not_processed',
  'customer_initiated',
  'debit_not_authorized',
  'duplicate',
  'fraudulent',
  'general',
  'insufficient_funds',
  'product_not_received',
  'product_unacceptable',
  'requested_by_customer',
  'subscription_canceled',
  'unrecognized',
] as const

/** Stripe's statuses of a dispute that is open. */
const STATUSES = [
  'needs_response',
  'under_review',
  'warning_needs_response',
  'warning_under_review',
] as const

/** A reason of Stripe's in words; an unknown code as it is. */
export function paymentReasonText(t: TFunction, code: string): string {
  const known = REASONS.find((one) => one === code)
  return known === undefined ? code : t(`orders.reason_${known}`)
}

/** A status of a dispute in words; an unknown code as it is. */
export function disputeStatusText(t: TFunction, code: string): string {
  const known = STATUSES.find((one) => one === code)
  return known === undefined ? code : t(`orders.dispute_${known}`)
}
