import type { CodedError } from '../shared/coded-error.ts'
import type { Sealed } from '../shared/event.ts'
import type { PaymentProvider, Rebate, TopUpOrdered } from './events.ts'

type PlaceTopUp = { readonly type: 'PlaceTopUp' } & TopUpOrdered['data']

/** What a provider said, its signature checked: all of it has to match the order. */
export type PayTopUp = {
  readonly type: 'PayTopUp'
  readonly tradeNo: string
  readonly provider: PaymentProvider
  readonly merchant: string
  readonly currency: string
  /** In hundredths. */
  readonly cents: bigint
  readonly paymentId: string
  readonly rebate: Rebate | null
}

/** `cents` above 0, and no more than is left of what was paid. */
export type RefundTopUp = {
  readonly type: 'RefundTopUp'
  readonly cents: bigint
  /** As whoever asks saw the order: refunds so far. */
  readonly refundsBefore: number
  /** The order's `changes` that the shares were worked out from. Left out: any. */
  readonly changesBefore?: number
  readonly reason: Sealed
}

type Report = {
  /** `TopUpState.changes`, as seen when what goes with the report was worked out. */
  readonly changesBefore: number
  /** What the user reads beside quota that is taken, sealed. */
  readonly note: Sealed
  readonly currency: string
}

/** The provider said how a refund stands, or what all refunds of a charge come to (`isTotal`). */
export type ReportRefund = Report & {
  readonly type: 'ReportRefund'
  readonly refundId: string
  readonly isTotal: boolean
  /** In hundredths. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
}

/** The provider said how a dispute stands. */
export type ReportDispute = Report & {
  readonly type: 'ReportDispute'
  readonly disputeId: string
  /** In hundredths. */
  readonly cents: bigint
  readonly status: string
  readonly reason: string
  /** Unix seconds; null: no evidence is taken. */
  readonly dueBy: number | null
  /** What this report says of the money; null: nothing. */
  readonly funds: 'withdrawn' | 'reinstated' | null
  /** When the provider said so, unix seconds. */
  readonly statedAt: number
}

export type TopUpReport = ReportRefund | ReportDispute

export type TopUpCommand = PlaceTopUp | PayTopUp | RefundTopUp | TopUpReport

export type TopUpErrorCode =
  | 'TopUpUnknown'
  | 'TopUpExists'
  /** What the provider said is not what was ordered; params: `field`. */
  | 'TopUpMismatch'
  /** Details: `paymentId`, of the payment that counted. */
  | 'TopUpPaidAlready'
  | 'TopUpNotPaid'
  /** More than is left of what was paid, or nothing; params: `left`. */
  | 'RefundOutOfRange'
  /** Somebody else refunded a part of it in between. */
  | 'RefundedMeanwhile'

export type TopUpError = CodedError<TopUpErrorCode>
