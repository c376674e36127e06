import type { DecimalText } from '../pricing/price-snapshot.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { PaymentMethod } from '../shared/payment-methods.ts'
import type { WireQuota } from '../shared/quota.ts'

/**
 * Returns the name of an order's event stream. Only this stream determines whether the order is
 * paid.
 */
export const topUpStream = (orderId: number): string => `top-up-${orderId}`

export type PaymentProvider = 'epay' | 'stripe'

/** An amount of money with two decimal places, such as `7.30`. */
export type MoneyText = string

/** A user started the payment of an ordered top-up. */
export type TopUpOrdered = Fact<
  'TopUpOrdered',
  {
    readonly orderId: number
    readonly userId: number
    /** The order's id at the provider, which cannot be guessed. */
    readonly tradeNo: string
    readonly provider: PaymentProvider
    readonly method: PaymentMethod
    /** The merchant's id at the provider, or empty if the secret alone identifies the merchant. */
    readonly merchant: string
    /** The ordered quota in whole dollars. */
    readonly amount: number
    readonly quota: WireQuota
    readonly money: MoneyText
    /** The ISO 4217 code of the currency, such as `CNY`. */
    readonly currency: string
    /** The top-up code that the user entered, and the factor by which it multiplies the price. */
    readonly code: { readonly name: string; readonly ratio: DecimalText } | null
  }
>

/**
 * The order was paid. The provider's report had a valid signature and matched the order. There is
 * at most one such event per order.
 */
export type TopUpPaid = Fact<
  'TopUpPaid',
  {
    readonly orderId: number
    readonly userId: number
    readonly paymentId: string
    readonly rebate: Rebate | null
  }
>

export type Rebate = {
  readonly inviterId: number
  readonly percentage: DecimalText
  readonly quota: WireQuota
}

/** Identifies the provider's report that caused a refund or a restoration. */
export type ReportSource = { readonly kind: 'refund' | 'dispute'; readonly id: string }

/** The payment was refunded, fully or in part, by an admin (`actor`) or the provider. */
export type TopUpRefunded = Fact<
  'TopUpRefunded',
  {
    readonly orderId: number
    readonly userId: number
    /** The number of the refund within the order, starting at 1. */
    readonly refundNo: number
    readonly money: MoneyText
    /** The quota that is deducted from the user. `rebateQuota` is deducted from the inviter. */
    readonly quota: WireQuota
    readonly rebateQuota: WireQuota
    /** The reason for the refund, encrypted with the user's data key. */
    readonly reason: Sealed
    /** The provider's report that caused the refund. Omitted if an admin recorded the refund. */
    readonly source?: ReportSource
  }
>

/** A refund failed or a dispute was won, so the deducted quota is restored. */
export type TopUpRestored = Fact<
  'TopUpRestored',
  {
    readonly orderId: number
    readonly userId: number
    /** The number of the restoration within the order, starting at 1. */
    readonly restoreNo: number
    readonly money: MoneyText
    readonly quota: WireQuota
    readonly rebateQuota: WireQuota
    readonly source: ReportSource
  }
>

/** The provider reported the status of a refund that an admin or the provider started. */
export type TopUpRefundReported = Fact<
  'TopUpRefundReported',
  {
    readonly orderId: number
    readonly userId: number
    /** The provider's id of the refund, or of the charge if `isTotal` is set. */
    readonly refundId: string
    readonly money: MoneyText
    /**
     * Set if `money` is the sum of all refunds of the payment so far, not the amount of one refund.
     */
    readonly isTotal?: true
    /**
     * The status of the refund: `pending`, `succeeded`, `failed`, `canceled` or `requires_action`.
     */
    readonly status: string
    /** The provider's reason code for the refund, or empty. */
    readonly reason: string
    /**
     * The sum of all refunds so far that the provider has reported and an admin has also recorded.
     * This money must not count twice.
     */
    readonly coveredMoney: MoneyText
  }
>

export type TopUpDisputeReported = Fact<
  'TopUpDisputeReported',
  {
    readonly orderId: number
    readonly userId: number
    readonly disputeId: string
    readonly money: MoneyText
    /** The provider's reason code for the dispute, such as `fraudulent`. */
    readonly reason: string
    /** The status of the dispute, such as `needs_response`, `under_review`, `won` or `lost`. */
    readonly status: string
    /** The deadline for evidence in Unix seconds, or null if the provider accepts no evidence. */
    readonly dueBy: number | null
    /**
     * `isWithdrawn`: the disputed money left the operator's account. `isReinstated`: the disputed
     * money was returned.
     */
    readonly isWithdrawn: boolean
    readonly isReinstated: boolean
    /**
     * The time of the latest report in Unix seconds. A report that is older than the latest report
     * can only set `isWithdrawn` and `isReinstated`.
     */
    readonly statedAt: number
    /**
     * The sum of all money so far that the provider has reported and an admin has also recorded as
     * refunded. This money must not count twice.
     */
    readonly coveredMoney: MoneyText
  }
>

export type TopUpEvent =
  | TopUpOrdered
  | TopUpPaid
  | TopUpRefunded
  | TopUpRestored
  | TopUpRefundReported
  | TopUpDisputeReported
