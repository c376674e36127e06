import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { PaymentProvider, Rebate, TopUpOrdered } from './events.ts'

type PlaceTopUp = { readonly type: 'PlaceTopUp' } & TopUpOrdered['data']

/**
 * Records a payment that the provider reported with a valid signature. The command is refused if a
 * value in the report differs from the order.
 */
export type PayTopUp = {
  readonly type: 'PayTopUp'
  readonly tradeNo: string
  readonly provider: PaymentProvider
  readonly merchant: string
  readonly currency: string
  /** The paid amount in hundredths of the currency. */
  readonly cents: bigint
  readonly paymentId: string
  readonly rebate: Rebate | null
}

/**
 * Records a refund by an admin. `cents` must be above 0 and at most the amount that is not refunded
 * yet.
 */
export type RefundTopUp = {
  readonly type: 'RefundTopUp'
  readonly cents: bigint
  /**
   * The number of refunds that the admin saw. If this number has changed, the command is refused.
   */
  readonly refundsBefore: number
  /**
   * The value of `TopUpState.changes` that the sender saw. If this value has changed, the command
   * is refused.
   */
  readonly changesBefore?: number
  readonly reason: Sealed
}

type Report = {
  /**
   * The value of `TopUpState.changes` that the sender saw. If this value has changed, the command
   * is refused.
   */
  readonly changesBefore: number
  /** The note that the user sees if the report leads to a deduction. */
  readonly note: Sealed
  readonly currency: string
}

/**
 * Records the provider's report on one refund, or on the sum of all refunds of a payment
 * (`isTotal`).
 */
export type ReportRefund = Report & {
  readonly type: 'ReportRefund'
  readonly refundId: string
  readonly isTotal: boolean
  /** The refunded amount in hundredths of the currency. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
}

export type ReportDispute = Report & {
  readonly type: 'ReportDispute'
  readonly disputeId: string
  /** The disputed amount in hundredths of the currency. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
  /** The deadline for evidence in Unix seconds, or null if the provider accepts no evidence. */
  readonly dueBy: number | null
  /**
   * `withdrawn`: the disputed money was taken from the operator's account. `reinstated`: the
   * disputed money was returned. Null if the report is not about such a transfer.
   */
  readonly funds: 'withdrawn' | 'reinstated' | null
  /** The time of the provider's report in Unix seconds. */
  readonly statedAt: number
}

export type TopUpReport = ReportRefund | ReportDispute

export type TopUpCommand = PlaceTopUp | PayTopUp | RefundTopUp | TopUpReport

export type TopUpErrorCode =
  | 'TopUpUnknown'
  | 'TopUpExists'
  /** A value in the report differs from the order. Params: `field`. */
  | 'TopUpMismatch'
  /** The order was already paid. Params: `paymentId`, the id of the recorded payment. */
  | 'TopUpPaidAlready'
  | 'TopUpNotPaid'
  /**
   * The amount is not above 0, or is above the amount that is not refunded yet. Params: `left`, the
   * amount that is not refunded yet.
   */
  | 'RefundOutOfRange'
  /** The order was changed after the sender had read it, for example by another refund. */
  | 'RefundedMeanwhile'

export type TopUpError = CodedError<TopUpErrorCode>
