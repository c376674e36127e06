import Type, { type Static } from 'typebox'

/** Dollars of quota, whole ones. */
const AMOUNT = Type.Integer({ minimum: 1, maximum: 1_000_000 })

export const PaymentMethod = Type.Union([
  Type.Literal('zfb'),
  Type.Literal('wx'),
  Type.Literal('stripe'),
])
export type PaymentMethod = Static<typeof PaymentMethod>

/** Without a way to pay, the price is the gateway's. */
export const AskAmount = Type.Object({
  amount: AMOUNT,
  top_up_code: Type.Optional(Type.String({ maxLength: 200 })),
  payment_method: Type.Optional(PaymentMethod),
})
export type AskAmount = Static<typeof AskAmount>

/** `data` is the money to pay, exact: `7.30`. */
export const Amount = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.String(),
  /** ISO 4217. */
  currency: Type.String(),
})
export type Amount = Static<typeof Amount>

export const Pay = Type.Object({
  amount: AMOUNT,
  top_up_code: Type.Optional(Type.String({ maxLength: 200 })),
  payment_method: PaymentMethod,
})
export type Pay = Static<typeof Pay>

/** `data`: the fields of a form to send to `url`; without any, a page to go to. */
export const PaymentPage = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  data: Type.Record(Type.String(), Type.String()),
  url: Type.String(),
})
export type PaymentPage = Static<typeof PaymentPage>

export const RefundOrder = Type.Object({
  money: Type.Optional(
    Type.String({ maxLength: 20, description: 'As 7.30; all that is left when it is left out' }),
  ),
  reason: Type.String({ maxLength: 500 }),
  /** As many refunds as the order had when this was decided: one that is sent twice counts once. */
  refunds: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
})
export type RefundOrder = Static<typeof RefundOrder>
