import type { DecimalText } from '../pricing/price.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** Each order has one stream, which alone decides whether it was paid. */
export const topUpStream = (orderId: number): string => `top-up-${orderId}`

export type PaymentProvider = 'epay' | 'stripe'
export type PaymentMethod = 'zfb' | 'wx' | 'stripe'

/** Money with two decimal places: `7.30`. */
export type MoneyText = string

/** A user started a payment: its purpose, its amount and its recipient. */
export type TopUpOrdered = Fact<
  'TopUpOrdered',
  {
    readonly orderId: number
    readonly userId: number
    /** The id by which the provider knows the order; it cannot be guessed. */
    readonly tradeNo: string
    readonly provider: PaymentProvider
    readonly method: PaymentMethod
    /** The merchant's id at the provider; empty where the secret alone identifies the merchant. */
    readonly merchant: string
    /** Whole dollars of quota. */
    readonly amount: number
    readonly quota: WireQuota
    readonly money: MoneyText
    /** ISO 4217: `CNY`. */
    readonly currency: string
    /** The top-up code that was used, and the factor that it applied to the price. */
    readonly code: { readonly name: string; readonly ratio: DecimalText } | null
  }
>

/**
 * The provider reported the payment with a valid signature, and everything matched the order.
 * Happens at most once.
 */
export type TopUpPaid = Fact<
  'TopUpPaid',
  {
    readonly orderId: number
    readonly userId: number
    /** The provider's id of the payment. */
    readonly paymentId: string
    /** The inviter's share, which goes to the affiliate balance. */
    readonly rebate: Rebate | null
  }
>

export type Rebate = {
  readonly inviterId: number
  readonly percentage: DecimalText
  readonly quota: WireQuota
}

/**
 * The report by which money left or came back: the provider's id of the refund, charge or dispute.
 */
export type ReportSource = { readonly kind: 'refund' | 'dispute'; readonly id: string }

/**
 * All or a part of the money was refunded. If an admin recorded the refund, the event's meta has
 * the admin.
 */
export type TopUpRefunded = Fact<
  'TopUpRefunded',
  {
    readonly orderId: number
    readonly userId: number
    /** Counts the refunds of an order from 1. */
    readonly refundNo: number
    readonly money: MoneyText
    /** The quota that is taken back from the user, and from the inviter. */
    readonly quota: WireQuota
    readonly rebateQuota: WireQuota
    /** The reason, sealed for the user concerned. */
    readonly reason: Sealed
    /** Omitted if an admin recorded the refund. */
    readonly source?: ReportSource
  }
>

/** Money came back because a refund failed or a dispute was won: its quota is restored. */
export type TopUpRestored = Fact<
  'TopUpRestored',
  {
    readonly orderId: number
    readonly userId: number
    /** Counts the restorations of an order from 1. */
    readonly restoreNo: number
    readonly money: MoneyText
    readonly quota: WireQuota
    readonly rebateQuota: WireQuota
    readonly source: ReportSource
  }
>

/** The provider reported the status of a refund, whoever started it. */
export type TopUpRefundReported = Fact<
  'TopUpRefundReported',
  {
    readonly orderId: number
    readonly userId: number
    /** The provider's id of the refund, or of the charge where `isTotal` is set. */
    readonly refundId: string
    readonly money: MoneyText
    /** `money` is the sum of all refunds of the charge so far. */
    readonly isTotal?: true
    /** The provider's status: `pending`, `succeeded`, `failed`, `canceled`, `requires_action`. */
    readonly status: string
    /** A code of the provider; empty where it gave none. */
    readonly reason: string
    /** The part of all reported money that admins had already recorded. */
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
    /** A code of the provider: `fraudulent`. */
    readonly reason: string
    /** The provider's status: `needs_response`, `under_review`, `won`, `lost`. */
    readonly status: string
    /** Until when evidence is accepted, in unix seconds; null means that none is accepted. */
    readonly dueBy: number | null
    /** Whether the money was taken from the operator's account, and whether it was returned. */
    readonly isWithdrawn: boolean
    readonly isReinstated: boolean
    /** When the provider stated the status, in unix seconds; older statements change nothing. */
    readonly statedAt: number
    /** The part of all reported money that admins had already recorded. */
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
