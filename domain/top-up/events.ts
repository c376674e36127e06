import type { DecimalText } from '../pricing/price.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/**
 * Returns the name of an order's stream. Only the events in this stream determine whether the order
 * is paid.
 */
export const topUpStream = (orderId: number): string => `top-up-${orderId}`

export type PaymentProvider = 'epay' | 'stripe'
export type PaymentMethod = 'zfb' | 'wx' | 'stripe'

/** An amount of money with two decimal places, such as `7.30`. */
export type MoneyText = string

/**
 * A user ordered a top-up and started its payment. The event contains what was ordered, its price
 * and the recipient of the payment.
 */
export type TopUpOrdered = Fact<
  'TopUpOrdered',
  {
    readonly orderId: number
    readonly userId: number
    /** The id of the order that the provider reports. It cannot be guessed. */
    readonly tradeNo: string
    readonly provider: PaymentProvider
    readonly method: PaymentMethod
    /**
     * The merchant's id at the provider. It is empty if the merchant is identified by the secret
     * alone.
     */
    readonly merchant: string
    /** The ordered quota in whole dollars. */
    readonly amount: number
    readonly quota: WireQuota
    readonly money: MoneyText
    /** The ISO 4217 code of the currency, such as `CNY`. */
    readonly currency: string
    /** The top-up code that the user entered, and the factor by which it changed the price. */
    readonly code: { readonly name: string; readonly ratio: DecimalText } | null
  }
>

/**
 * The provider reported the payment with a valid signature, and the report matched the order. There
 * is at most one such event per order.
 */
export type TopUpPaid = Fact<
  'TopUpPaid',
  {
    readonly orderId: number
    readonly userId: number
    /** The provider's id of the payment. */
    readonly paymentId: string
    /** The inviter's share, which is added to the affiliate balance. */
    readonly rebate: Rebate | null
  }
>

export type Rebate = {
  readonly inviterId: number
  readonly percentage: DecimalText
  readonly quota: WireQuota
}

/** The provider's report that caused a refund or a restoration. */
export type ReportSource = { readonly kind: 'refund' | 'dispute'; readonly id: string }

/**
 * The payment was refunded, fully or in part. If an admin recorded the refund, the event's `actor`
 * is the admin.
 */
export type TopUpRefunded = Fact<
  'TopUpRefunded',
  {
    readonly orderId: number
    readonly userId: number
    /** The number of the refund within the order, from 1. */
    readonly refundNo: number
    readonly money: MoneyText
    /**
     * The quota that is deducted from the user. The quota that is deducted from the inviter is
     * `rebateQuota`.
     */
    readonly quota: WireQuota
    readonly rebateQuota: WireQuota
    /** The reason of the refund, encrypted with the key of the user concerned. */
    readonly reason: Sealed
    /**
     * The provider's report that caused the refund. It is omitted if an admin recorded the refund.
     */
    readonly source?: ReportSource
  }
>

/**
 * Refunded money was returned because a refund failed or a dispute was won. The deducted quota is
 * restored.
 */
export type TopUpRestored = Fact<
  'TopUpRestored',
  {
    readonly orderId: number
    readonly userId: number
    /** The number of the restoration within the order, from 1. */
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
     * Set if `money` is the sum of all refunds of the charge so far, not the amount of one refund.
     */
    readonly isTotal?: true
    /**
     * The status of the refund: `pending`, `succeeded`, `failed`, `canceled`, `requires_action`.
     */
    readonly status: string
    /** The provider's reason code for the refund. It is empty if the provider sent none. */
    readonly reason: string
    /**
     * The amount of money, over all reports of the order, that admins had recorded as refunded
     * before the provider reported it.
     */
    readonly coveredMoney: MoneyText
  }
>

/** The provider reported the status of a dispute. */
export type TopUpDisputeReported = Fact<
  'TopUpDisputeReported',
  {
    readonly orderId: number
    readonly userId: number
    readonly disputeId: string
    readonly money: MoneyText
    /** The provider's reason code for the dispute, such as `fraudulent`. */
    readonly reason: string
    /** The provider's status of the dispute: `needs_response`, `under_review`, `won`, `lost`. */
    readonly status: string
    /**
     * The deadline for evidence in unix seconds. It is null if the provider accepts no evidence.
     */
    readonly dueBy: number | null
    /**
     * Set if the disputed money left the operator's account. `isReinstated` is set if the money was
     * returned.
     */
    readonly isWithdrawn: boolean
    readonly isReinstated: boolean
    /**
     * The time of the provider's statement in unix seconds. Statements with an earlier time are
     * ignored.
     */
    readonly statedAt: number
    /**
     * The amount of money, over all reports of the order, that admins had recorded as refunded
     * before the provider reported it.
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
