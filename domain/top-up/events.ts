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

/** An admin gave money back: all of it, or a part. Who is in the event's meta. */
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
  }
>

export type TopUpEvent = TopUpOrdered | TopUpPaid | TopUpRefunded
