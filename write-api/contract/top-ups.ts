import Type, { type Static } from 'typebox'
import { IdParams } from '#read-api/contract/request-parameters.ts'
import { Done } from '#read-api/contract/response-envelope.ts'
import { PaymentMethod } from '#read-api/contract/top-ups.ts'

/** The amount to buy, in whole US dollars of quota. */
const AMOUNT = Type.Integer({ minimum: 1, maximum: 1_000_000 })

/**
 * A request for the price of an amount of quota. The default payment method is Alipay through Epay
 * (`zfb`).
 */
export const AmountRequest = Type.Object({
  amount: AMOUNT,
  top_up_code: Type.Optional(Type.String({ maxLength: 200 })),
  payment_method: Type.Optional(PaymentMethod),
})
export type AmountRequest = Static<typeof AmountRequest>

/** `data` is the exact amount to pay, such as `7.30`. */
const Amount = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.String(),
  /** The ISO 4217 code of the currency. */
  currency: Type.String(),
})

export const Pay = Type.Object({
  amount: AMOUNT,
  top_up_code: Type.Optional(Type.String({ maxLength: 200 })),
  payment_method: PaymentMethod,
})
export type Pay = Static<typeof Pay>

/**
 * The page on which the user pays. If `data` is empty, the browser opens `url`. Otherwise, the
 * browser submits a form with the fields in `data` to `url`.
 */
const PaymentPage = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.Record(Type.String(), Type.String()),
  url: Type.String(),
})

export const RefundOrder = Type.Object({
  money: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Such as 7.30; the default is everything that is left to refund',
    }),
  ),
  reason: Type.String({ maxLength: 500 }),
  /**
   * The number of refunds that the order had when the caller read it. A repeated request contains
   * an outdated number and is rejected, so that no money is refunded twice.
   */
  refunds: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
})
export type RefundOrder = Static<typeof RefundOrder>

export const orderActions = {
  'POST /api/user/pay': { summary: 'Order a top-up', body: Pay, response: { 200: PaymentPage } },
  'POST /api/user/amount': {
    summary: 'Get the price of a top-up',
    body: AmountRequest,
    response: { 200: Amount },
  },
  'POST /api/user/topup/:id/refund': {
    summary: 'Record a full or partial refund of a top-up',
    params: IdParams,
    body: RefundOrder,
    response: { 200: Done },
  },
}
