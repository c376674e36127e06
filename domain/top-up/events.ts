import type { DecimalText } from '../pricing/price.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

/** One stream per order: whether it was paid is decided here, and nowhere else. */
export const topUpStream = (orderId: number): string => `top-up-${orderId}`

export type PaymentProvider = 'epay' | 'stripe'
export type PaymentMethod = 'zfb' | 'wx' | 'stripe'

/** Money with two digits after the point: `7.30`. */
export type MoneyText = string

/** A user asked to pay: what for, how much, and to whom. */
export type TopUpOrdered = Fact<
  'TopUpOrdered',
  {
    readonly orderId: number
    readonly userId: number
    /** What the provider calls the order by; nobody can guess it. */
    readonly tradeNo: string
    readonly provider: PaymentProvider
    readonly method: PaymentMethod
    /** Whom the provider pays: the merchant's id; empty where its secret alone says so. */
    readonly merchant: string
    /** Dollars of quota, whole ones. */
    readonly amount: number
    readonly quota: WireQuota
    readonly money: MoneyText
    /** ISO 4217: `CNY`. */
    readonly currency: string
    /** The top-up code that was used, and by what it multiplied the price. */
    readonly code: { readonly name: string; readonly ratio: DecimalText } | null
  }
>

/** The provider said so, by its signature, and everything matched the order. Once. */
export type TopUpPaid = Fact<
  'TopUpPaid',
  {
    readonly orderId: number
    readonly userId: number
    /** The provider's own id of the payment. */
    readonly paymentId: string
    /** What the inviter gets for it, on the affiliate balance. */
    readonly rebate: Rebate | null
  }
>

export type Rebate = {
  readonly inviterId: number
  readonly percentage: DecimalText
  readonly quota: WireQuota
}

/** The report by which money left or came back: the provider's id of refund, charge or dispute. */
export type ReportSource = { readonly kind: 'refund' | 'dispute'; readonly id: string }

/** Money was given back: all of it, or a part. An admin who recorded it is in the event's meta. */
export type TopUpRefunded = Fact<
  'TopUpRefunded',
  {
    readonly orderId: number
    readonly userId: number
    /** Counts up from 1 in its order. */
    readonly refundNo: number
    readonly money: MoneyText
    /** What is taken back from the user, and from the inviter. */
    readonly quota: WireQuota
    readonly rebateQuota: WireQuota
    /** Why, sealed for the user whom it is about. */
    readonly reason: Sealed
    /** Left out: an admin recorded the refund. */
    readonly source?: ReportSource
  }
>

/** Money that had left is back, since a refund failed or a dispute was won: its quota returns. */
export type TopUpRestored = Fact<
  'TopUpRestored',
  {
    readonly orderId: number
    readonly userId: number
    /** Counts up from 1 in its order. */
    readonly restoreNo: number
    readonly money: MoneyText
    readonly quota: WireQuota
    readonly rebateQuota: WireQuota
    readonly source: ReportSource
  }
>

/** The provider said how a refund stands, whoever started it there. */
export type TopUpRefundReported = Fact<
  'TopUpRefundReported',
  {
    readonly orderId: number
    readonly userId: number
    /** The provider's id of the refund; of the charge where `isTotal`. */
    readonly refundId: string
    readonly money: MoneyText
    /** `money` is that of all refunds of the charge so far. */
    readonly isTotal?: true
    /** In the provider's words: `pending`, `succeeded`, `failed`, `canceled`, `requires_action`. */
    readonly status: string
    /** A code of the provider's; empty where it gave none. */
    readonly reason: string
    /** How much of all money reported is the money that admins had recorded. */
    readonly coveredMoney: MoneyText
  }
>

/** The provider said how a dispute stands. */
export type TopUpDisputeReported = Fact<
  'TopUpDisputeReported',
  {
    readonly orderId: number
    readonly userId: number
    readonly disputeId: string
    readonly money: MoneyText
    /** A code of the provider's: `fraudulent`. */
    readonly reason: string
    /** In the provider's words: `needs_response`, `under_review`, `won`, `lost`. */
    readonly status: string
    /** Until when evidence is taken, unix seconds; null: none is taken. */
    readonly dueBy: number | null
    /** The money was taken from the operator's account, and returned to it. */
    readonly isWithdrawn: boolean
    readonly isReinstated: boolean
    /** When the provider said the status, unix seconds: older words change nothing. */
    readonly statedAt: number
    /** How much of all money reported is the money that admins had recorded. */
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
