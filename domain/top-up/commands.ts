import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { PaymentProvider, Rebate, TopUpOrdered } from './events.ts'

type PlaceTopUp = { readonly type: 'PlaceTopUp' } & TopUpOrdered['data']

/**
 * Records a payment that the provider reported with a valid signature. The command is refused if
 * one of its values differs from the order.
 */
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

/**
 * Records a refund by an admin. `cents` is above 0 and at most the part of the payment that has not
 * been refunded.
 */
export type RefundTopUp = {
  readonly type: 'RefundTopUp'
  readonly cents: bigint
  /**
   * The number of refunds that the admin saw. The command is refused if the order now has more
   * refunds.
   */
  readonly refundsBefore: number
  /**
   * The expected value of `TopUpState.changes`. The command is refused if the actual value differs.
   * If omitted, it is not checked.
   */
  readonly changesBefore?: number
  readonly reason: Sealed
}

type Report = {
  /**
   * The expected value of `TopUpState.changes`. The command is refused if the actual value differs.
   */
  readonly changesBefore: number
  /** The encrypted note that the user sees if quota is deducted. */
  readonly note: Sealed
  readonly currency: string
}

/**
 * Records the provider's report on a refund. If `isTotal` is set, the report is about the sum of
 * all refunds of a charge.
 */
export type ReportRefund = Report & {
  readonly type: 'ReportRefund'
  readonly refundId: string
  readonly isTotal: boolean
  /** The amount in hundredths of the currency. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
}

/** Records the provider's report on a dispute. */
export type ReportDispute = Report & {
  readonly type: 'ReportDispute'
  readonly disputeId: string
  /** The amount in hundredths of the currency. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
  /** The deadline for evidence in unix seconds. It is null if the provider accepts no evidence. */
  readonly dueBy: number | null
  /**
   * The transfer of the disputed money that the provider reported. It is null if the report is not
   * about a transfer.
   */
  readonly funds: 'withdrawn' | 'reinstated' | null
  /** The time in unix seconds at which the provider made the statement. */
  readonly statedAt: number
}

export type TopUpReport = ReportRefund | ReportDispute

export type TopUpCommand = PlaceTopUp | PayTopUp | RefundTopUp | TopUpReport

export type TopUpErrorCode =
  | 'TopUpUnknown'
  | 'TopUpExists'
  /**
   * A value in the report differs from the order. The error's `params` contain the name of the
   * value as `field`.
   */
  | 'TopUpMismatch'
  /**
   * The order was already paid by another payment. The error's `params` contain the `paymentId` of
   * that payment.
   */
  | 'TopUpPaidAlready'
  | 'TopUpNotPaid'
  /**
   * The amount is 0, or it exceeds the part of the payment that has not been refunded. The error's
   * `params` contain that part as `left`.
   */
  | 'RefundOutOfRange'
  /** Another refund was made after the admin had read the order. */
  | 'RefundedMeanwhile'

export type TopUpError = CodedError<TopUpErrorCode>
