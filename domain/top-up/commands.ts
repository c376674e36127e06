import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { PaymentProvider, Rebate, TopUpOrdered } from './events.ts'

type PlaceTopUp = { readonly type: 'PlaceTopUp' } & TopUpOrdered['data']

/**
 * A payment that the provider reported with a valid signature. All of its members must match the
 * order.
 */
export type PayTopUp = {
  readonly type: 'PayTopUp'
  readonly tradeNo: string
  readonly provider: PaymentProvider
  readonly merchant: string
  readonly currency: string
  /** In hundredths of the currency. */
  readonly cents: bigint
  readonly paymentId: string
  readonly rebate: Rebate | null
}

/** `cents` is above 0 and at most what is left of the payment. */
export type RefundTopUp = {
  readonly type: 'RefundTopUp'
  readonly cents: bigint
  /** The number of refunds when the requester read the order. */
  readonly refundsBefore: number
  /** The order's `changes` on which the shares are based; if omitted, they are not checked. */
  readonly changesBefore?: number
  readonly reason: Sealed
}

type Report = {
  /** The `changes` of the `TopUpState` on which the accompanying commands are based. */
  readonly changesBefore: number
  /** The sealed note that the user sees next to quota that is taken back. */
  readonly note: Sealed
  readonly currency: string
}

/**
 * The provider reported the status of a refund, or the sum of all refunds of a charge (`isTotal`).
 */
export type ReportRefund = Report & {
  readonly type: 'ReportRefund'
  readonly refundId: string
  readonly isTotal: boolean
  /** In hundredths of the currency. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
}

/** The provider reported the status of a dispute. */
export type ReportDispute = Report & {
  readonly type: 'ReportDispute'
  readonly disputeId: string
  /** In hundredths of the currency. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
  /** Unix seconds; null means that no evidence is accepted. */
  readonly dueBy: number | null
  /** What the report says about the money; null means nothing. */
  readonly funds: 'withdrawn' | 'reinstated' | null
  /** When the provider made the statement, in unix seconds. */
  readonly statedAt: number
}

export type TopUpReport = ReportRefund | ReportDispute

export type TopUpCommand = PlaceTopUp | PayTopUp | RefundTopUp | TopUpReport

export type TopUpErrorCode =
  | 'TopUpUnknown'
  | 'TopUpExists'
  /** The report does not match the order; params: `field`. */
  | 'TopUpMismatch'
  /** params: `paymentId` of the payment that counted. */
  | 'TopUpPaidAlready'
  | 'TopUpNotPaid'
  /** The amount is 0 or exceeds what is left of the payment; params: `left`. */
  | 'RefundOutOfRange'
  /** Another refund was made meanwhile. */
  | 'RefundedMeanwhile'

export type TopUpError = CodedError<TopUpErrorCode>
