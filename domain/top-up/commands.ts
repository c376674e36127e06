import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { PaymentProvider, Rebate, TopUpOrdered } from './events.ts'

type PlaceTopUp = { readonly type: 'PlaceTopUp' } & TopUpOrdered['data']

/** Records a payment that was reported with a valid signature. All members must match the order. */
export type PayTopUp = {
  readonly type: 'PayTopUp'
  readonly tradeNo: string
  readonly provider: PaymentProvider
  readonly merchant: string
  readonly currency: string
  /** The amount in hundredths of the currency. */
  readonly cents: bigint
  readonly paymentId: string
  readonly rebate: Rebate | null
}

/** Records an admin's refund. `cents` is above 0 and at most the unrefunded part of the payment. */
export type RefundTopUp = {
  readonly type: 'RefundTopUp'
  readonly cents: bigint
  /**
   * The number of refunds that the admin saw. The command is refused if the order has more refunds.
   */
  readonly refundsBefore: number
  /** The expected value of `TopUpState.changes`. If it is omitted, any value is accepted. */
  readonly changesBefore?: number
  readonly reason: Sealed
}

type Report = {
  /** The expected value of `TopUpState.changes`. With another value, the command is refused. */
  readonly changesBefore: number
  /** The sealed note that the user sees if quota is deducted. */
  readonly note: Sealed
  readonly currency: string
}

/** The provider reported the status of a refund, or the sum of a charge's refunds (`isTotal`). */
export type ReportRefund = Report & {
  readonly type: 'ReportRefund'
  readonly refundId: string
  readonly isTotal: boolean
  /** The amount in hundredths of the currency. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
}

/** The provider reported the status of a dispute. */
export type ReportDispute = Report & {
  readonly type: 'ReportDispute'
  readonly disputeId: string
  /** The amount in hundredths of the currency. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
  /** The deadline for evidence in unix seconds. null means that no evidence is accepted. */
  readonly dueBy: number | null
  /**
   * The movement of money that the report states. null means that the report states no movement.
   */
  readonly funds: 'withdrawn' | 'reinstated' | null
  /** The time of the provider's statement in unix seconds. */
  readonly statedAt: number
}

export type TopUpReport = ReportRefund | ReportDispute

export type TopUpCommand = PlaceTopUp | PayTopUp | RefundTopUp | TopUpReport

export type TopUpErrorCode =
  | 'TopUpUnknown'
  | 'TopUpExists'
  /** The report does not match the order. params: `field`. */
  | 'TopUpMismatch'
  /** The order was already paid. params: `paymentId` of the payment that counted. */
  | 'TopUpPaidAlready'
  | 'TopUpNotPaid'
  /** The amount is 0 or exceeds the part of the payment that was not refunded. params: `left`. */
  | 'RefundOutOfRange'
  /** Another refund was made after the admin had read the order. */
  | 'RefundedMeanwhile'

export type TopUpError = CodedError<TopUpErrorCode>
