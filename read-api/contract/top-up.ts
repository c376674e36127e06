import Type, { type Static } from 'typebox'

export const Refund = Type.Object({
  /** Counts up from 1 in its order. */
  refund_no: Type.Integer(),
  /** Exact, as `7.30`. */
  money: Type.String(),
  quota: Type.Integer(),
  reason: Type.String(),
  /** Who made it; 0 and empty for anyone but admins. */
  actor_id: Type.Integer(),
  actor_name: Type.String(),
  /** Unix seconds. */
  created_at: Type.Integer(),
})
export type Refund = Static<typeof Refund>

export const Order = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  username: Type.String(),
  /** What the provider calls the order by. */
  trade_no: Type.String(),
  payment_method: Type.Union([Type.Literal('zfb'), Type.Literal('wx'), Type.Literal('stripe')]),
  /** Dollars of quota. */
  amount: Type.Integer(),
  quota: Type.Integer(),
  money: Type.String(),
  currency: Type.String(),
  top_up_code: Type.String(),
  status: Type.Union([Type.Literal('pending'), Type.Literal('paid'), Type.Literal('refunded')]),
  /** The provider's id of the payment; empty while there is none. */
  payment_id: Type.String(),
  /** What is left of the money; `0.00` when all of it was refunded. */
  refundable: Type.String(),
  refunds: Type.Array(Refund),
  /** What the inviter got; 0 for anyone but admins. */
  rebate_quota: Type.Integer(),
  /** Unix seconds; null: not paid. */
  created_at: Type.Integer(),
  paid_at: Type.Union([Type.Integer(), Type.Null()]),
})
export type Order = Static<typeof Order>
