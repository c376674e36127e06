import type { Sealed } from '../shared/event.ts'
import type { PaymentProvider, Rebate, TopUpOrdered } from './events.ts'

export type PlaceTopUp = { readonly type: 'PlaceTopUp' } & TopUpOrdered['data']

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
  readonly reason: Sealed
}

export type TopUpCommand = PlaceTopUp | PayTopUp | RefundTopUp
